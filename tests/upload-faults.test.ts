import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import type { Release } from '../contract/releases.ts';
import type { StorageConfig } from '../server/config.ts';
import { connect } from '../server/storage/s3-client.ts';
import { sweepUploads } from '../server/jobs/upload-sweep.ts';
import { inLanes } from './in-lanes.ts';
import { MiB, uploader, type Prepared, type Uploader } from './uploading.ts';
import { program, sha512Of } from './binaries.ts';
import {
  apiAt,
  createTestDatabase,
  days,
  movableClock,
  startTestServer,
  type Identity,
  type TestDatabase,
  checkedTime,
} from './harness.ts';
import { administratorAt, newDataDir, startServer, type ServerProcess } from './server-process.ts';

/** Uploads that are cut off, at moments spread over all of their time. */
const kills = 3;
const { S3_ENDPOINT, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = process.env;

/** Where the binaries of a run are: as a setting of the server, and as a storage for the sweep. */
type Place = { settings: Record<string, string>; storage: () => StorageConfig };
const onDisk: Place = {
  settings: {},
  storage: () => ({ kind: 'disk', folder: join(dataDir, 'binaries') }),
};
const bucket = `lanyard-${randomUUID()}`;
const onS3: Place = {
  settings: {
    S3_ENDPOINT: S3_ENDPOINT!,
    STORAGE_URL: `s3://${bucket}`,
    AWS_ACCESS_KEY_ID: AWS_ACCESS_KEY_ID!,
    AWS_SECRET_ACCESS_KEY: AWS_SECRET_ACCESS_KEY!,
  },
  storage() {
    return {
      kind: 's3',
      bucket,
      prefix: '',
      endpoint: S3_ENDPOINT,
      region: 'us-east-1',
      redirect: false,
    };
  },
};

let database: TestDatabase;
let dataDir: string;
beforeEach(async () => {
  database = await createTestDatabase();
  dataDir = await newDataDir();
});

const start = (settings: Record<string, string> = {}) =>
  startServer({ DATABASE_URL: database.url, DATA_DIR: dataDir, LOG_LEVEL: 'error', ...settings });

async function signIn(server: ServerProcess): Promise<Uploader & Identity> {
  const who = await administratorAt(server);
  return { ...uploader(server.url, apiAt(server.url, who), who), ...who };
}

type Attempt = { bytes: Buffer; version: string; prepared?: Prepared };

/** All calls of an upload, any of which may fail because the server is killed. */
async function upload(up: Uploader, attempt: Attempt): Promise<Release> {
  const { bytes, version } = attempt;
  attempt.prepared ??= await up.prepare(bytes, { version });
  await up.sendAll(bytes, attempt.prepared, 3);
  const answer = await up.complete(bytes, attempt.prepared, { version, isDraft: false });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.data;
}

test.for([
  { name: 'disk', place: onDisk },
  { name: 'S3 [needs an S3 server]', place: onS3 },
])(
  `${kills} times killed while uploading, each file becomes a right release, and nothing else is left: $name`,
  { timeout: 300_000 },
  async ({ place }, { skip }) => {
    skip(place === onS3 && !S3_ENDPOINT);
    if (place === onS3) await makeBucket();
    let server = await start(place.settings);
    // two chunks
    const makeAttempt = (n: number): Attempt => ({ bytes: program(9 * MiB + n), version: `1.0.${n}` });

    // that of the quickest upload so far: one that is done before it would be killed counts for nothing
    const first = makeAttempt(0);
    const from = performance.now();
    await upload(await signIn(server), first);
    let quickestMs = performance.now() - from;

    const attempts = [first];
    let interrupted = 0;
    for (let n = 1; interrupted < kills; n++) {
      const attempt = makeAttempt(n);
      attempts.push(attempt);
      const up = await signIn(server);
      const begun = performance.now();
      const running = upload(up, attempt).then(
        () => (quickestMs = Math.min(quickestMs, performance.now() - begun)),
        () => interrupted++,
      );
      await sleep(((interrupted + 0.5) / kills) * quickestMs);
      await server.end('SIGKILL');
      await running;
      server = await start(place.settings);
    }

    const up = await signIn(server);
    for (const attempt of attempts) {
      const { fileUrl } = await resume(up, attempt);
      const { version, bytes } = attempt;
      const response = await fetch(server.url + new URL(fileUrl).pathname, { headers: up.headers });
      expect(response.status, version).toBe(200);
      expect(sha512Of(Buffer.from(await response.arrayBuffer())), version).toBe(sha512Of(bytes));
    }
    expect(server.complaints()).toBe('');
    await server.end('SIGTERM');
    await expectNoOrphans(attempts.length, place.storage());
  },
);

/** As the console does after a reload: checks what is stored, sends what is missing, completes. */
async function resume(up: Uploader, attempt: Attempt): Promise<Release> {
  const { prepared, bytes, version } = attempt;
  if (!prepared) return upload(up, attempt);
  const { received } = (await up.state(prepared.uploadId)).body.data;
  for (const [index, piece] of up.pieces(bytes, prepared).entries()) {
    if (received.includes(index)) continue;
    const answer = await up.chunk(prepared.uploadId, index, piece);
    expect(answer.status, answer.text).toBe(200);
  }
  const answer = await up.complete(bytes, prepared, { version, isDraft: false });
  expect(answer.status, answer.text).toBe(201);
  expect(answer.body.data.sha512).toBe(sha512Of(bytes));
  return answer.body.data;
}

async function makeBucket(): Promise<void> {
  const client = connect(onS3.storage() as Extract<StorageConfig, { kind: 's3' }>);
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
}

async function expectNoOrphans(count: number, storage: StorageConfig): Promise<void> {
  const later = movableClock(new Date(Date.now() + days(2)));
  const keys = {
    signingKey: { file: join(dataDir, 'signing-key.pem') },
    secretsKey: { file: join(dataDir, 'secrets-key') },
  };
  const sweeper = await startTestServer({ database, clock: later, config: { storage, ...keys } });
  await sweepUploads(sweeper.context, checkedTime(sweeper));
  const found: string[] = [];
  for await (const { key } of sweeper.context.storage.list()) found.push(key);
  const rows = await sweeper.db
    .selectFrom('releases')
    .select(['storage_key', 'blockmap_key', 'sha512'])
    .execute();
  expect(rows).toHaveLength(count);
  const known = rows.flatMap((row) => [row.storage_key!, row.blockmap_key!]);
  expect(found.toSorted()).toEqual(known.toSorted());
}

test('a file of 300 MB goes through without filling the memory', async () => {
  const server = await start();
  const up = await signIn(server);
  // warmed up, so that only the upload is measured
  await upload(up, { bytes: program(9 * MiB), version: '3.0.0' });
  const before = await residentMiB(server);

  const block = program(8 * MiB);
  const count = 38;
  const hash = createHash('sha512');
  for (let i = 0; i < count; i++) hash.update(block);
  const prepared = await up.prepare({ length: count * block.length } as Buffer, { version: '3.0.1' });
  const send = async (index: number) => {
    const answer = await up.chunk(prepared.uploadId, index, block);
    expect(answer.status, answer.text).toBe(200);
  };
  await inLanes([...Array(count).keys()], send, 6);
  const answer = await up.complete(block, prepared, { version: '3.0.1', sha512: hash.digest('base64') });
  expect(answer.status, answer.text).toBe(201);
  const peak = await residentMiB(server, 'VmHWM');
  expect(peak - before).toBeLessThan(100);
  expect(peak).toBeLessThan(260);
});

async function residentMiB({ process: child }: ServerProcess, what = 'VmRSS'): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  return Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(status)![1]) / 1024;
}
