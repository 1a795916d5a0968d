import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { uploads } from '../../contract/uploads.ts';
import { createTestDatabase } from '../../tests/harness.ts';
import { startFakeS3 } from '../../tests/fake-s3.ts';
import { counted, longestGap, startLoad } from '../../tests/load.ts';
import { newDataDir, startServer } from '../../tests/server-process.ts';
import { opened } from '../../tests/opened.ts';
import { startSwitch } from '../../tests/tcp-switch.ts';
import { addResult } from './table.ts';
import { lostCustomers, prepareWork } from '../../tests/work.ts';

const hungMs = 40_000;

/** The server of the bucket accepts connections and does not respond, also during a start: licensing must not be affected. */
export async function hungStorage(): Promise<void> {
  const bucket = await startFakeS3();
  opened.add(() => bucket.close());
  const line = await startSwitch(bucket.endpoint);
  const database = await createTestDatabase({ empty: true });
  const dataDir = await newDataDir();
  const settings = {
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    LOG_LEVEL: 'fatal',
    STORAGE_URL: 's3://releases',
    S3_ENDPOINT: line.url,
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret',
  };
  // the first start needs the bucket, to check whether there was an audit log before
  let server = await startServer(settings);
  await server.end('SIGTERM');
  line.newOnes = 'silent';
  server = await startServer(settings);
  const work = await prepareWork(server);
  let version = 0;
  const prepare = () =>
    work.staff.call(uploads.prepare, {
      body: { fileName: 'App Setup.exe', fileSize: 1000, version: `1.0.${version++}` },
    });
  const others = startLoad(work.calls);
  const uploading = startLoad({ upload: prepare }, { lanes: 6 });
  await sleep(hungMs);
  await Promise.all([others.stop(), uploading.stop()]);

  const lost = await lostCustomers(database.url, work.made);
  const figures = counted(others.seen);
  const ofUploads = counted(uploading.seen);
  const longestMs = Math.max(...uploading.seen.map(({ from, to }) => to - from));
  const description = `the bucket accepts connections and does not respond for ${hungMs / 1000} s; ${ofUploads.refused} uploads were refused meanwhile, the slowest after ${(longestMs / 1000).toFixed(1)} s`;
  addResult({ scenario: 'hung storage', description, ...figures, gapMs: longestGap(others.seen), lost });
  assert.deepEqual([figures.failed, figures.refused, ofUploads.failed, lost], [[], 0, [], []]);
  assert.ok(longestMs < 15_000, `an upload was refused after ${longestMs} ms`);
}
