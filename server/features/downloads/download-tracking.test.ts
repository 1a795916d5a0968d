import { Readable } from 'node:stream';
import { beforeEach, expect, test, vi } from 'vitest';
import { machines } from '../../../contract/machines.ts';
import { releases, type Release } from '../../../contract/releases.ts';
import { program } from '../../../tests/binaries.ts';
import { breakOff } from '../../../tests/break-off.ts';
import { makeApiKey, reportEvents } from '../../../tests/factories.ts';
import { eventually, minutes, startTestServer } from '../../../tests/harness.ts';
import { MiB, nextVersion, uploader } from '../../../tests/uploading.ts';
import { StorageDown } from '../../storage/storage.ts';
import { machineHashOf } from '../../machine-hash.ts';

const bytes = program(6 * MiB + 17);
let release: Release;
const server = await startTestServer();
const admin = await server.signInAs('super_admin');
const staff = server.api(admin);
const key = await makeApiKey(staff, { scopes: ['updates'] });
beforeEach(async () => {
  const up = uploader(server.url, staff, admin);
  const answer = await up.direct({ version: nextVersion(), is_draft: 'false', file: bytes });
  expect(answer.status, answer.text).toBe(201);
  release = answer.body.data;
});

const address = () => server.url + new URL(release.fileUrl).pathname;

/** Reads all of it: a file that nobody reads keeps its connection, and the server from closing. */
async function fetched(url: string, headers: Record<string, string>, method = 'GET') {
  const answer = await fetch(url, { method, headers });
  await answer.arrayBuffer();
  return answer.status;
}

const fetchAs = (machineId: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetched(address(), { ...key.headers, 'x-machine-id': machineId, ...headers }, method);

const detail = (machineId: string) => staff.call(machines.get, { params: { id: machineHashOf(machineId) } });

/** The downloads that staff see of a machine, once they are as expected. */
const expectDownloads = (machineId: string, expected: object[]) =>
  eventually(async () => {
    const { status, body } = await detail(machineId);
    expect(status).toBe(200);
    expect(body.data.downloadHistory).toMatchObject(expected);
    expect(body.data.downloadHistory).toHaveLength(expected.length);
    return body.data;
  });

const figures = async () => {
  const { releaseStats } = await staff.ok(releases.analytics);
  const { id: _, ...stats } = releaseStats.find(({ id }) => id === release.id)!;
  return stats;
};

const report = (machineId: string, eventType: 'download_error' | 'download_complete', more = {}) =>
  reportEvents(server.api(key), [
    { machineId, eventType, releaseId: release.id, toVersion: release.version, ...more },
  ]);

const complete = {
  completedAt: expect.any(String) as string,
  bytesDownloaded: bytes.length,
  errorCode: null,
};
const begun = { completedAt: null, errorCode: null };

test('a file that a machine was sent whole is a download, once a machine and without a report', async () => {
  expect(await fetchAs('whole')).toBe(200);
  const { machine, updateHistory } = await expectDownloads('whole', [
    { ...complete, version: release.version },
  ]);
  expect(machine).toMatchObject({ totalDownloads: 1, totalUpdateChecks: 0 });
  // the history is what the machine says of itself
  expect(updateHistory).toEqual([]);
  expect(await fetchAs('whole')).toBe(200);
  expect(await fetchAs('another')).toBe(200);
  await expectDownloads('another', [complete]);
  await expectDownloads('whole', [complete]);
  expect(await figures()).toMatchObject({
    totalDownloads: 2,
    completedDownloads: 2,
    failedDownloads: 0,
    uniqueDownloads: 2,
  });
  expect((await staff.ok(releases.get, { params: { releaseId: release.id } })).downloadCount).toBe(2);
});

test('one that breaks off is in progress, and complete when its rest was fetched', async () => {
  await breakOff(address(), { ...key.headers, 'x-machine-id': 'resumes' });
  await expectDownloads('resumes', [begun]);
  expect(await fetchAs('resumes', { range: 'bytes=1000000-' })).toBe(206);
  await expectDownloads('resumes', [complete]);
  expect(await figures()).toMatchObject({ totalDownloads: 1, completedDownloads: 1 });
});

test('nothing of what the storage does not give is a download', async () => {
  const read = vi
    .spyOn(server.context.storage, 'read')
    .mockRejectedValue(new StorageDown('disk', new Error()));
  expect(await fetchAs('refused')).toBe(503);
  // its status was sent before the first piece is read
  await expect(fetchAs('pieces', { range: 'bytes=0-9,100-199' })).rejects.toThrow();
  read.mockRestore();
  expect(await fetchAs('served')).toBe(200);
  await expectDownloads('served', [complete]);
  expect(await figures()).toMatchObject({ totalDownloads: 1, completedDownloads: 1, uniqueDownloads: 1 });
});

test('what ends early, or goes on for too long, in the storage breaks off, and is no download', async () => {
  const read = vi.spyOn(server.context.storage, 'read');
  const begin = bytes.subarray(0, MiB);
  for (const stored of [[begin], [begin, Buffer.concat([bytes, begin])]]) {
    read.mockImplementation(async () => Readable.from(stored));
    await expect(fetchAs('cut')).rejects.toThrow();
    await expect(fetchAs('cut', { range: 'bytes=100-' })).rejects.toThrow();
    await expect(fetchAs('cut', { range: `bytes=0-9,100-${2 * MiB}` })).rejects.toThrow();
  }
  read.mockRestore();
  await expectDownloads('cut', [begun]);
  expect(await fetchAs('cut', { range: 'bytes=100-' })).toBe(206);
  await expectDownloads('cut', [complete]);
});

test('pieces of it are a beginning: of what it makes of them only the machine can tell', async () => {
  expect(await fetchAs('pieces', { range: `bytes=100-200,5000-${bytes.length - 1}` })).toBe(206);
  expect(await fetchAs('pieces', { range: `bytes=5000-${bytes.length - 1}` })).toBe(206);
  await expectDownloads('pieces', [begun]);
  await report('pieces', 'download_complete', { bytesDownloaded: 70_000 });
  await expectDownloads('pieces', [{ ...complete, bytesDownloaded: 70_000 }]);
});

test('what a machine reports of a file that it was sent goes before what the service saw', async () => {
  const { db } = server;
  const ofToday = async () =>
    (await db.selectFrom('day_figures').selectAll().where('figure', '=', 'downloads').execute())
      .map(({ count }) => count)
      .reduce((sum, count) => sum + count, 0);
  const before = await ofToday();
  await fetchAs('reports');
  await expectDownloads('reports', [complete]);
  expect(await ofToday()).toBe(before + 1);
  server.clock.advance(minutes(1));
  await report('reports', 'download_error', { errorCode: 'ERR_CHECKSUM' });
  await expectDownloads('reports', [{ completedAt: null, errorCode: 'ERR_CHECKSUM' }]);
  expect(await figures()).toMatchObject({ totalDownloads: 1, completedDownloads: 0, failedDownloads: 1 });
  expect(await ofToday(), 'it has no file').toBe(before);
  server.clock.advance(minutes(1));
  await fetchAs('reports');
  await expectDownloads('reports', [complete]);
  await report('reports', 'download_complete');
  expect(await figures()).toMatchObject({ totalDownloads: 1, completedDownloads: 1, failedDownloads: 0 });
  expect(await ofToday()).toBe(before + 1);
});

test('an error that is heard of late changes nothing of what was sent since', async () => {
  const before = server.clock.now().toISOString();
  server.clock.advance(minutes(1));
  await fetchAs('late');
  await expectDownloads('late', [complete]);
  await report('late', 'download_error', { errorCode: 'ETIMEDOUT', timestamp: before });
  await eventually(async () => (await detail('late')).body.data.updateHistory.length === 1);
  await expectDownloads('late', [complete]);
});

test('nothing is a download that is no file, or goes to nobody who is known, or to staff', async () => {
  expect(await fetchAs('asks', {}, 'HEAD')).toBe(200);
  expect(await fetchAs('asks', { 'if-none-match': '*' })).toBe(304);
  const asks = { 'x-machine-id': 'asks' };
  expect(await fetched(`${address()}.blockmap`, { ...key.headers, ...asks })).toBe(200);
  expect(await fetched(address(), key.headers)).toBe(200);
  expect(await fetched(address(), { ...admin.headers, ...asks })).toBe(200);
  // the batch that this one is in has all of the others
  await fetchAs('last');
  await expectDownloads('last', [complete]);
  expect((await detail('asks')).status).toBe(404);
  expect(await figures()).toMatchObject({ totalDownloads: 1 });
});

test('a machine may be named in the address as well', async () => {
  const query = new URLSearchParams({ key: key.key, machineId: 'by address' });
  expect((await (await fetch(`${address()}?${query.toString()}`)).arrayBuffer()).byteLength).toBe(
    bytes.length,
  );
  await expectDownloads('by address', [complete]);
});
