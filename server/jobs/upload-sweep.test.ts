import { utimes } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { releases } from '../../contract/releases.ts';
import { program } from '../../tests/binaries.ts';
import {
  auditOf,
  days,
  eventually,
  hours,
  movableClock,
  startTestServer,
  startTwin,
  checkedTime,
} from '../../tests/harness.ts';
import { entriesOf } from '../../tests/rows.ts';
import { openHolder } from '../../tests/waiting-calls.ts';
import { MiB, nextVersion, someId, uploader, type Uploader } from '../../tests/uploading.ts';
import { isFailure } from '../failure.ts';
import { sweepUploads } from './upload-sweep.ts';

let up: Uploader;
let person: { email: string } | undefined;
// what lies on the disk has the times of the real clock
const server = await startTestServer({ clock: movableClock(new Date()) });
await signIn();

/** Always the same person: an upload goes on only for whoever began it. */
async function signIn() {
  person ??= await server.createPerson('binary_manager');
  const manager = await server.signIn(person.email, 'binary_manager');
  up = uploader(server.url, server.api(manager), manager);
  return server.api(manager);
}

const bytes = program(9 * MiB);

async function keys(): Promise<string[]> {
  const found: string[] = [];
  for await (const { key, unfinished } of server.context.storage.list())
    found.push(unfinished ? `${key} (unfinished)` : key);
  return found.toSorted();
}

test('an upload that nobody touched for a day is cancelled, with its bytes; one that goes on is not', async () => {
  const abandoned = await up.prepare(bytes);
  await up.chunk(abandoned.uploadId, 0, up.pieces(bytes, abandoned)[0]!);
  const alive = await up.prepare(bytes);
  server.clock.advance(hours(23));
  await signIn();
  await up.chunk(alive.uploadId, 0, up.pieces(bytes, alive)[0]!);
  expect(await sweepUploads(server.context, checkedTime(server))).toEqual({ cancelled: 0, removed: 0 });
  server.clock.advance(hours(2));
  expect(await sweepUploads(server.context, checkedTime(server))).toMatchObject({ cancelled: 1 });
  expect(await keys()).toEqual([`${alive.fileKey} (unfinished)`]);
  await signIn();
  expect((await up.state(abandoned.uploadId)).status).toBe(404);
  const entry = (await auditOf(server, abandoned.uploadId)).at(-1);
  expect(entry).toMatchObject({ event_type: 'upload.cancelled', user_email: 'system' });

  await up.sendAll(bytes, alive);
  expect((await up.complete(bytes, alive)).status).toBe(201);
});

test('an upload that goes on while the sweep is under way is not cancelled', async () => {
  const [first, resumed] = [await up.prepare(bytes), await up.prepare(bytes)];
  server.clock.advance(hours(25));
  await signIn();
  const [piece] = up.pieces(bytes, resumed);
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const sender = writable.getWriter();
  const sent = up.chunk(resumed.uploadId, 0, readable);
  const holder = await openHolder(server);
  const swept = await holder.whileWaiting(
    ['select from uploads where upload_id = $1 for update', first.uploadId],
    () => sweepUploads(server.context, checkedTime(server)),
    async () => {
      await sender.write(new Uint8Array(piece!.subarray(0, MiB)));
      const chunks = server.db.selectFrom('upload_chunks').where('upload_id', '=', resumed.uploadId);
      await eventually(async () => (await chunks.select('claim').execute()).length > 0);
    },
  );
  await Promise.all([sender.write(new Uint8Array(piece!.subarray(MiB))), sender.close()]);
  expect((await sent).body.data).toEqual({ index: 0, received: 1 });
  expect(swept).toMatchObject({ cancelled: 1 });
  await up.cancel(resumed.uploadId);
});

test('what belongs to no release and no upload goes after a day; the bin keeps what lies in it', async () => {
  server.clock.set(new Date());
  const api = await signIn();
  const version = nextVersion();
  const kept = (await up.direct({ version, file: bytes })).body.data;
  const trashed = (await up.direct({ version: nextVersion(), file: bytes })).body.data;
  await api.ok(releases.softDelete, { params: { releaseId: trashed.id }, body: { reason: 'Wrong' } });
  const before = await keys();
  const { storage } = server.context;
  // a copy: what is handed over is the storage's
  const orphan = `${someId()}.exe`;
  await storage.put(orphan, Readable.from([Buffer.from(bytes)]));
  await storage.put(`${orphan}.blockmap`, Readable.from([Buffer.from('x')]));
  const begun = await storage.begin(`${someId()}.exe`, 1000);
  if (isFailure(begun)) throw new Error(begun.message);
  expect(await sweepUploads(server.context, checkedTime(server))).toEqual({ cancelled: 0, removed: 0 });

  server.clock.advance(days(1) + hours(1));
  await signIn();
  const open = await up.prepare(bytes);
  // an upload that has been going on for days
  const old = new Date(Date.now() - days(3));
  const token = await tokenOf(open.uploadId);
  await utimes((await storage.fileOf!({ key: open.fileKey, size: 0, token }))!, old, old);
  expect(await sweepUploads(server.context, checkedTime(server))).toEqual({ cancelled: 0, removed: 3 });
  expect(await keys()).toEqual([...before, `${open.fileKey} (unfinished)`].toSorted());
  expect((await api.call(releases.get, { params: { releaseId: kept.id } })).status).toBe(401);
});

test('ended uploads are forgotten after a week', async () => {
  await signIn();
  const done = await up.prepare(bytes);
  await up.sendAll(bytes, done);
  await up.complete(bytes, done);
  server.clock.advance(days(6));
  await sweepUploads(server.context, checkedTime(server));
  const count = () =>
    server.db.selectFrom('uploads').selectAll().where('upload_id', '=', done.uploadId).execute();
  expect(await count()).toHaveLength(1);
  server.clock.advance(days(2));
  await sweepUploads(server.context, checkedTime(server));
  expect(await count()).toHaveLength(0);
});

test('an upload that a clock which was ahead dated is cancelled a day after the clock is right again', async () => {
  const now = server.clock.now();
  server.clock.advance(days(400));
  await signIn();
  const { uploadId } = await up.prepare(bytes);
  // by a process that was killed then
  const begun = { upload_id: uploadId, index: 0, claim: someId(), claimed_at: server.clock.now() };
  await server.db.insertInto('upload_chunks').values(begun).execute();
  server.clock.set(now);
  expect(await sweepUploads(server.context, checkedTime(server))).toMatchObject({ cancelled: 0 });
  server.clock.advance(days(1) + hours(1));
  expect(await sweepUploads(server.context, checkedTime(server))).toMatchObject({ cancelled: 1 });
});

test('one upload and one file that cannot be removed hold up no others', async () => {
  server.clock.set(new Date());
  await signIn();
  const [locked, free] = [await up.prepare(bytes), await up.prepare(bytes)];
  const { storage } = server.context;
  const orphans = [`${someId()}.exe`, `${someId()}.exe`];
  for (const key of orphans) await storage.put(key, Readable.from([Buffer.from('x')]));
  server.clock.advance(days(2));
  const remove = storage.remove.bind(storage);
  await server.pool.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
    create trigger refuse before update on uploads for each row
      when (old.upload_id = '${locked.uploadId}' and new.status = 'cancelled') execute function refuse()`);
  let stuck: string | undefined;
  const removal = vi.spyOn(storage, 'remove').mockImplementation(async (key) => {
    // the orphan that is listed first
    if (orphans.includes(key) && (stuck ??= key) === key) throw new Error('EPERM');
    await remove(key);
  });
  onTestFinished(() => removal.mockRestore());
  const failed = sweepUploads(server.context, checkedTime(server));
  await expect(failed).rejects.toThrow('refused');
  await signIn();
  expect((await up.state(free.uploadId)).status).toBe(404);
  expect((await up.state(locked.uploadId)).status).toBe(200);
  expect((await keys()).filter((key) => orphans.includes(key))).toEqual([stuck]);
  await server.pool.query('drop trigger refuse on uploads');
  removal.mockRestore();
  expect(await sweepUploads(server.context, checkedTime(server))).toEqual({ cancelled: 1, removed: 1 });
});

test('one of many processes sweeps', async () => {
  const twin = await startTwin(server, { config: { storage: server.context.config.storage } });
  await signIn();
  await up.prepare(bytes);
  server.clock.advance(days(2));
  const swept = await Promise.all(
    Array.from({ length: 6 }, (_, i) => sweepUploads((i % 2 ? server : twin).context, checkedTime(server))),
  );
  expect(swept.reduce((sum, one) => sum + (one?.cancelled ?? 0), 0)).toBe(1);
  const entries = await entriesOf(server, 'upload.cancelled');
  expect(new Set(entries.map((entry) => entry.resource_id)).size).toBe(entries.length);
});

const tokenOf = async (uploadId: string) =>
  (
    await server.db
      .selectFrom('uploads')
      .select('multipart_id')
      .where('upload_id', '=', uploadId)
      .executeTakeFirstOrThrow()
  ).multipart_id!;
