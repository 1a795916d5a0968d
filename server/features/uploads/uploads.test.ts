import { randomBytes } from 'node:crypto';
import { open, truncate, writeFile } from 'node:fs/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { releases } from '../../../contract/releases.ts';
import { uploads } from '../../../contract/uploads.ts';
import { appImage, archive, diskImage, program, sha512Of } from '../../../tests/binaries.ts';
import { makeApiKey } from '../../../tests/factories.ts';
import { auditOf, seconds, startTestServer, startTwin } from '../../../tests/harness.ts';
import { leftBy, MiB, nextVersion, someId, uploader, type Prepared } from '../../../tests/uploading.ts';
import { findUpload, unfinishedOf } from './upload-row.ts';

const server = await startTestServer();
const manager = await server.signInAs('binary_manager');
const api = server.api(manager);
const up = uploader(server.url, api, manager);
const { stored, arriving, bytesOf, rowOf } = leftBy(server);

describe('a file in chunks', () => {
  const bytes = program(16 * MiB + 777);

  /** An upload that has all its chunks. */
  async function sent() {
    const version = nextVersion();
    const prepared = await up.prepare(bytes, { version });
    await up.sendAll(bytes, prepared);
    return { version, prepared };
  }

  /** Another process of the service. */
  async function elsewhere() {
    const twin = await startTwin(server, { config: { storage: server.context.config.storage } });
    return { twin, there: uploader(twin.url, twin.api(manager), manager) };
  }

  test('becomes a release whatever the order of its chunks, and its bytes are those that were sent', async () => {
    const version = nextVersion();
    const prepared = await up.prepare(bytes, { version });
    expect(prepared).toMatchObject({ chunkSize: 8 * MiB, totalChunks: 3 });
    const [a, b, c] = up.pieces(bytes, prepared) as [Buffer, Buffer, Buffer];
    expect((await up.chunk(prepared.uploadId, 2, c)).body.data).toEqual({ index: 2, received: 1 });
    expect((await up.chunk(prepared.uploadId, 0, a)).body.data).toEqual({ index: 0, received: 2 });
    expect((await up.state(prepared.uploadId)).body.data).toEqual({
      ...prepared,
      fileName: 'App Setup.exe',
      fileSize: bytes.length,
      received: [0, 2],
      status: 'open',
      releaseId: null,
    });
    expect((await up.chunk(prepared.uploadId, 1, b)).body.data).toEqual({ index: 1, received: 3 });
    const details = { releaseNotes: 'New', minimumAppVersion: '0.9.0' };
    const answer = await up.complete(bytes, prepared, { version, ...details });
    expect(answer.status, answer.text).toBe(201);
    const release = answer.body.data;
    expect(release).toMatchObject({
      version,
      ...details,
      fileSize: bytes.length,
      sha512: sha512Of(bytes),
      isDraft: true,
    });
    const row = await rowOf(release.id);
    expect(row.storage_key).toBe(prepared.fileKey);
    expect((await bytesOf(prepared.fileKey)).equals(bytes)).toBe(true);
    expect((await up.state(prepared.uploadId)).body.data).toMatchObject({
      status: 'completed',
      releaseId: release.id,
    });
    const entries = await auditOf(server, prepared.uploadId);
    expect(entries.map((entry) => [entry.event_type, entry.changes_summary])).toEqual([
      ['upload.begun', `App Setup.exe as ${version}: begun, ${bytes.length} bytes`],
      ['upload.completed', `App Setup.exe as ${version}: completed`],
    ]);
    expect(entries[0]).toMatchObject({ user_email: manager.email, after: { channel: 'stable', version } });
    expect(await arriving()).toEqual([]);
  });

  test('takes chunks only from whoever began it, person or API key', async () => {
    const small = program(1000);
    const other = await server.signInAs('binary_manager');
    const key = await makeApiKey(server.api(await server.signInAs('super_admin')), { scopes: ['releases'] });
    const asOther = uploader(server.url, server.api(other), other);
    const asKey = uploader(server.url, server.api(key), key);
    const mine = await up.prepare(small);
    for (const stranger of [asOther, asKey]) {
      const refused = await stranger.chunk(mine.uploadId, 0, small);
      expect(refused.status).toBe(403);
      expect(refused.body.error).toBe('Only the caller that started an upload may send its chunks.');
    }
    expect((await up.state(mine.uploadId)).body.data.received).toEqual([]);
    for (const refused of [await asKey.complete(small, mine), await asKey.cancel(mine.uploadId)])
      expect([refused.status, refused.body]).toMatchObject([
        403,
        { error: 'This upload was started by another caller.' },
      ]);
    const ofKey = await asKey.prepare(small);
    expect((await up.chunk(ofKey.uploadId, 0, small)).status).toBe(403);
    for (const [owner, { uploadId }] of [
      [up, mine],
      [asKey, ofKey],
    ] as const)
      expect([(await owner.chunk(uploadId, 0, small)).status, (await owner.cancel(uploadId)).status]).toEqual(
        [200, 204],
      );
  });

  test('may be completed again and again, at once too: one release, the same answer', async () => {
    const { version, prepared } = await sent();
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => up.complete(bytes, prepared, { version })),
    );
    expect(answers.map((answer) => answer.status)).toEqual([201, 201, 201, 201, 201, 201]);
    expect(new Set(answers.map((answer) => answer.body.data.id)).size).toBe(1);
    const again = await up.complete(bytes, prepared, { version });
    expect(again.body.data).toEqual(answers[0]!.body.data);
    const entries = await auditOf(server, prepared.uploadId);
    expect(entries.map((entry) => entry.event_type)).toEqual(['upload.begun', 'upload.completed']);
  });

  test('that is complete refuses another version or percentage, rather than return what was published', async () => {
    const input = { version: nextVersion(), isDraft: false, rolloutPercentage: 50 };
    const prepared = await up.prepare(bytes, { version: input.version });
    await up.sendAll(bytes, prepared);
    const made = await up.complete(bytes, prepared, input);
    for (const other of [{ rolloutPercentage: 5 }, { version: nextVersion() }, { isDraft: true }]) {
      const refused = await up.complete(bytes, prepared, { ...input, ...other });
      expect(refused.status).toBe(409);
      expect(refused.body.error).toBe(
        'This upload is complete, with other values than these. Edit its release instead.',
      );
    }
    // what happens to the release later is no other value
    const moved = await api.call(releases.rollout, {
      params: { releaseId: made.body.data.id },
      body: { percentage: 60 },
    });
    expect(moved.status, moved.text).toBe(200);
    const again = await up.complete(bytes, prepared, input);
    expect(again.status).toBe(201);
    expect(again.body.data).toMatchObject({ id: made.body.data.id, rolloutPercentage: 60 });
  });

  test('goes on through another process', async () => {
    const { there } = await elsewhere();
    const version = nextVersion();
    const prepared = await up.prepare(bytes, { version });
    const [a, b, c] = up.pieces(bytes, prepared) as [Buffer, Buffer, Buffer];
    await up.chunk(prepared.uploadId, 0, a);
    await there.chunk(prepared.uploadId, 1, b);
    expect((await there.state(prepared.uploadId)).body.data.received).toEqual([0, 1]);
    await there.chunk(prepared.uploadId, 2, c);
    // what one process hashed is replaced through the other, and what it knows is no longer so
    await up.chunk(prepared.uploadId, 1, randomBytes(8 * MiB));
    const wrong = await there.complete(bytes, prepared, { version });
    expect(wrong.status).toBe(422);
    await there.chunk(prepared.uploadId, 1, b);
    const [x, y] = await Promise.all([
      up.complete(bytes, prepared, { version }),
      there.complete(bytes, prepared, { version }),
    ]);
    expect([x.status, y.status]).toEqual([201, 201]);
    expect(x.body.data.id).toBe(y.body.data.id);
    expect((await bytesOf(prepared.fileKey)).equals(bytes)).toBe(true);
  });

  test('whose file could not be read to its end is completed by the next call', async () => {
    // a process that took none of the chunks, so that it hashes them all at the end
    const { there } = await elsewhere();
    const { version, prepared } = await sent();
    const file = await fileOf(prepared);
    await truncate(file, 12 * MiB);
    expect((await there.complete(bytes, prepared, { version })).status).toBe(500);
    await writeFile(file, bytes);
    const answer = await there.complete(bytes, prepared, { version });
    expect(answer.status, answer.text).toBe(201);
  });

  test('whose completion froze, and was taken over, is the same release for both', async () => {
    const { there: other } = await elsewhere();
    const { version, prepared } = await sent();
    const { storage } = server.context;
    const finish = storage.finish.bind(storage);
    let there: Promise<Awaited<ReturnType<typeof up.complete>>> | undefined;
    vi.spyOn(storage, 'finish').mockImplementationOnce(async (...args) => {
      server.clock.advance(seconds(11));
      there = other.complete(bytes, prepared, { version });
      await there;
      return finish(...args);
    });
    const here = await up.complete(bytes, prepared, { version });
    expect([here.status, here.body.data]).toEqual([201, (await there)?.body.data]);
  });

  test('whose completion froze and then failed is left to the call that took it over', async () => {
    const { twin, there } = await elsewhere();
    const { version, prepared } = await sent();
    const finish = twin.context.storage.finish.bind(twin.context.storage);
    let fail = () => {};
    let goOn = () => {};
    const fails = new Promise<void>((resolve) => (fail = resolve));
    const hasFailed = new Promise<void>((resolve) => (goOn = resolve));
    let taken: ReturnType<typeof up.complete> | undefined;
    vi.spyOn(server.context.storage, 'finish').mockImplementationOnce(async () => {
      server.clock.advance(seconds(11));
      taken = there.complete(bytes, prepared, { version });
      await fails;
      throw new Error('The disk failed');
    });
    vi.spyOn(twin.context.storage, 'finish').mockImplementationOnce(async (...args) => {
      fail();
      await hasFailed;
      return finish(...args);
    });
    const failed = await up.complete(bytes, prepared, { version });
    const upload = await findUpload(server.db, prepared.uploadId);
    goOn();
    expect([failed.status, (await taken!).status]).toEqual([500, 201]);
    expect(upload!.claim, 'that of the other call').not.toBeNull();
  });

  test('whose claim ended while it was hashed is hashed once for both completions', async () => {
    const { twin, there } = await elsewhere();
    const { version, prepared } = await sent();
    const { storage } = twin.context;
    const look = storage.fileOf!.bind(storage);
    let next: ReturnType<typeof up.complete> | undefined;
    const looked = vi.spyOn(storage, 'fileOf');
    // the first look is whether there is a file, the second for its first chunk
    looked.mockImplementationOnce(look).mockImplementationOnce(async (...args) => {
      server.clock.advance(seconds(11));
      const isThere = new Promise<void>((resolve) =>
        looked.mockImplementationOnce((...same) => (resolve(), look(...same))),
      );
      next = there.complete(bytes, prepared, { version });
      await isThere;
      return look(...args);
    });
    const answer = await there.complete(bytes, prepared, { version });
    expect(answer.status, answer.text).toBe(201);
    expect((await next!).body.data).toEqual(answer.body.data);
  });

  test('takes a chunk again, and the last one counts', async () => {
    const version = nextVersion();
    const prepared = await up.prepare(bytes, { version });
    await up.chunk(prepared.uploadId, 0, randomBytes(8 * MiB));
    await up.sendAll(bytes, prepared);
    await up.chunk(prepared.uploadId, 1, up.pieces(bytes, prepared)[1]!);
    expect((await up.complete(bytes, prepared, { version })).status).toBe(201);
  });

  test('takes the raw bytes of a chunk without a content type, as a browser sends a part of a file', async () => {
    const prepared = await up.prepare(bytes);
    const { uploadId } = prepared;
    const last = up.pieces(bytes, prepared)[2]!;
    const answer = await fetch(`${server.url}/api/v1/binaries/upload/chunk/${uploadId}/2`, {
      method: 'PUT',
      headers: manager.headers,
      body: last as BodyInit,
    });
    expect(answer.status, await answer.text()).toBe(200);
    expect((await up.state(uploadId)).body.data.received).toEqual([2]);
    await up.cancel(uploadId);
  });

  test('of which five connections send one chunk at once is whole', async () => {
    const version = nextVersion();
    const prepared = await up.prepare(bytes, { version });
    const [first, ...rest] = up.pieces(bytes, prepared) as [Buffer, Buffer, Buffer];
    const answers = await Promise.all(Array.from({ length: 5 }, () => up.chunk(prepared.uploadId, 0, first)));
    expect(answers.filter((answer) => ![200, 409].includes(answer.status))).toEqual([]);
    expect(answers.some((answer) => answer.status === 200)).toBe(true);
    for (const [i, piece] of rest.entries()) await up.chunk(prepared.uploadId, i + 1, piece);
    const answer = await up.complete(bytes, prepared, { version });
    expect(answer.status, answer.text).toBe(201);
  });

  test('of which two connections send different bytes at once has the bytes of one of them', async () => {
    const prepared = await up.prepare(bytes);
    const contents = [Buffer.alloc(8 * MiB, 1), Buffer.alloc(8 * MiB, 2)];
    for (let round = 0; round < 3; round++) {
      await Promise.all([...contents, ...contents].map((content) => up.chunk(prepared.uploadId, 0, content)));
      const handle = await open(await fileOf(prepared));
      const read = Buffer.alloc(8 * MiB);
      await handle.read(read, 0, read.length, 0);
      await handle.close();
      expect(contents.some((content) => content.equals(read))).toBe(true);
    }
    await up.cancel(prepared.uploadId);
  });

  test('refuses chunks that are short or long, announced or not, and records none of them', async () => {
    const prepared = await up.prepare(bytes);
    const { uploadId } = prepared;
    const streamed = (size: number) => new Blob([new Uint8Array(size)]).stream() as unknown as ReadableStream;
    const short = await up.chunk(uploadId, 0, randomBytes(8 * MiB - 1));
    expect([short.status, short.body.code]).toEqual([422, 'RULE_VIOLATED']);
    const long = await up.chunk(uploadId, 0, randomBytes(8 * MiB + 1));
    expect([long.status, long.body.code]).toEqual([413, 'TOO_LARGE']);
    const shortStream = await up.chunk(uploadId, 0, streamed(8 * MiB - 1));
    expect([shortStream.status, shortStream.body.code]).toEqual([422, 'RULE_VIOLATED']);
    const longStream = await up.chunk(uploadId, 0, streamed(8 * MiB + 1));
    expect([longStream.status, longStream.body.code]).toEqual([413, 'TOO_LARGE']);
    const longLast = await up.chunk(uploadId, 2, randomBytes(8 * MiB));
    expect(longLast.status).toBe(413);
    const empty = await up.chunk(uploadId, 0, streamed(0));
    expect(empty.status).toBe(422);
    expect((await up.state(uploadId)).body.data.received).toEqual([]);
    await up.cancel(uploadId);
  });

  test('has no chunks but its own, and no upload is there that was not prepared', async () => {
    const prepared = await up.prepare(bytes);
    expect((await up.chunk(prepared.uploadId, 3, randomBytes(10))).status).toBe(404);
    expect((await up.chunk(someId(), 0, randomBytes(10))).status).toBe(404);
    expect((await up.chunk('nonsense', 0, randomBytes(10))).status).toBe(400);
    expect((await up.state(someId())).status).toBe(404);
    expect((await up.cancel(someId())).status).toBe(404);
    expect((await up.complete(bytes, { ...prepared, uploadId: someId() })).status).toBe(404);
    expect((await up.complete(bytes, { ...prepared, fileKey: 'other' })).status).toBe(404);
    await up.cancel(prepared.uploadId);
  });

  test('is not complete before it is: chunks, their number, hash and kind', async () => {
    const prepared = await up.prepare(bytes);
    const { uploadId } = prepared;
    const few = await up.complete(bytes, prepared);
    expect([few.status, few.body.error]).toEqual([422, '3 of 3 chunks are missing: 0, 1, 2.']);
    await up.sendAll(bytes, prepared);
    const number = await up.complete(bytes, { ...prepared, totalChunks: 2 });
    expect([number.status, number.body.error]).toEqual([422, 'This upload has 3 chunks, not 2.']);
    const other = sha512Of(Buffer.from('other'));
    const mismatch = await up.complete(bytes, prepared, { sha512: other });
    expect(mismatch.status).toBe(422);
    expect(mismatch.body.error).toContain(other);
    expect(mismatch.body.error).toContain(sha512Of(bytes));
    expect((await up.state(uploadId)).body.data).toMatchObject({ status: 'open', received: [0, 1, 2] });
    // the hash may come in hex as well, and the upload is still good
    const hex = Buffer.from(sha512Of(bytes), 'base64').toString('hex');
    expect((await up.complete(bytes, prepared, { sha512: hex })).status).toBe(201);
  });

  test.each([
    ['App.dmg', program(MiB), 'not a macOS disk image'],
    ['App.exe', archive(MiB), 'not a Windows program'],
    ['App.EXE', archive(MiB), 'not a Windows program'],
    ['App.zip', archive(9 * MiB).subarray(0, 8.5 * MiB), 'not a whole ZIP archive'],
    ['App.nupkg', diskImage(MiB), 'not a whole NuGet package'],
    ['App.AppImage', program(MiB), 'not an AppImage'],
    ['app.deb', program(MiB), 'not a Debian package'],
    ['app.rpm', program(MiB), 'not an RPM package'],
  ])('named %s is refused when its content is another', async (fileName, content, sentence) => {
    const prepared = await up.prepare(content, { fileName });
    await up.sendAll(content, prepared);
    const answer = await up.complete(content, prepared);
    expect(answer.status).toBe(422);
    expect(answer.body.error).toContain(sentence);
    expect((await up.cancel(prepared.uploadId)).status).toBe(204);
  });

  test.each([
    ['App.dmg', diskImage(MiB)],
    ['App.DMG', diskImage(MiB)],
    ['Setup.EXE', program(MiB)],
    ['App.zip', archive(MiB)],
    ['App.nupkg', archive(MiB)],
    ['App.AppImage', appImage(MiB)],
    ['App.appimage', appImage(MiB)],
    ['app.deb', Buffer.concat([Buffer.from('!<arch>\ndebian-binary   '), randomBytes(MiB)])],
    ['app.rpm', Buffer.concat([Buffer.from('edabeedb', 'hex'), randomBytes(MiB)])],
    ['e\u0301vil\u202Egpj.exe', program(MiB)],
  ])('named %s is taken when it is one', async (fileName, content) => {
    const prepared = await up.prepare(content, { fileName });
    await up.sendAll(content, prepared);
    const answer = await up.complete(content, prepared);
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body.data.fileName).not.toMatch(/\u202e|\u0301/);
  });

  test('that was cancelled has no bytes left, and takes nothing more', async () => {
    const before = await stored();
    const prepared = await up.prepare(bytes);
    const { uploadId } = prepared;
    await up.sendAll(bytes, prepared);
    expect((await arriving()).length).toBe(1);
    expect((await up.cancel(uploadId)).status).toBe(204);
    expect(await arriving()).toEqual([]);
    expect(await stored()).toEqual(before);
    expect((await up.cancel(uploadId)).status).toBe(204);
    expect((await up.state(uploadId)).status).toBe(404);
    const chunk = await up.chunk(uploadId, 0, up.pieces(bytes, prepared)[0]!);
    expect([chunk.status, chunk.body.error]).toEqual([409, 'This upload was cancelled.']);
    expect((await up.complete(bytes, prepared)).status).toBe(409);
    const entries = await auditOf(server, uploadId);
    expect(entries.map((entry) => entry.event_type)).toEqual(['upload.begun', 'upload.cancelled']);
  });

  test('that the database refuses to record leaves no room reserved, unless its commit may have happened', async () => {
    const key = { 'idempotency-key': someId() };
    const body = { fileName: 'App.exe', fileSize: MiB, version: nextVersion() };
    const prepare = async () => (await api.call(uploads.prepare, { body }, key)).status;
    await server.pool.query(
      "create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$",
    );
    onTestFinished(async () => void (await server.pool.query('drop function refuse cascade')));
    const begun = (await arriving()).length;
    await server.pool.query('create trigger refuse before insert on uploads execute function refuse()');
    expect([await prepare(), await prepare()]).toEqual([500, 500]);
    expect((await arriving()).length).toBe(begun);
    await server.pool.query(
      `drop trigger refuse on uploads; create constraint trigger refuse after insert on uploads
         initially deferred for each row execute function refuse()`,
    );
    expect(await prepare()).toBe(500);
    expect((await arriving()).length).toBe(begun + 1);
    await server.pool.query('drop trigger refuse on uploads');
    expect(await Promise.all([prepare(), prepare()])).toEqual([201, 201]);
    expect((await arriving()).length).toBe(begun + 2);
  });

  test('that is complete takes no chunk and cannot be cancelled', async () => {
    const prepared = await up.prepare(bytes);
    await up.sendAll(bytes, prepared);
    const { id } = (await up.complete(bytes, prepared)).body.data;
    const chunk = await up.chunk(prepared.uploadId, 0, up.pieces(bytes, prepared)[0]!);
    expect([chunk.status, chunk.body.error]).toEqual([409, 'This upload is complete.']);
    expect((await up.cancel(prepared.uploadId)).status).toBe(409);
    expect((await api.ok(releases.get, { params: { releaseId: id } })).sha512).toBe(sha512Of(bytes));
    expect((await bytesOf(prepared.fileKey)).equals(bytes)).toBe(true);
  });

  test('of a version that is there is refused at once; of one that came meanwhile, at the end', async () => {
    const { version, prepared } = await sent();
    await up.direct({ version, file: program(1000) });
    expect((await up.complete(bytes, prepared, { version })).body.code).toBe('ALREADY_EXISTS');
    const late = await api.call(uploads.prepare, {
      body: { fileName: 'App.exe', fileSize: 100, version },
    });
    expect(late.body.code).toBe('ALREADY_EXISTS');
    // staff correct the version, and need not send the file again
    const completed = await up.complete(bytes, prepared);
    expect(completed.status).toBe(201);
    const entries = await auditOf(server, prepared.uploadId);
    expect(entries.at(-1)!.changes_summary).toBe(
      `App Setup.exe as ${completed.body.data.version}: completed`,
    );
  });

  test.each(['../../etc/passwd.exe', 'a/b.exe', 'a\\b.exe', '.exe', 'App.txt', 'App', 'a\0.exe', ''])(
    'cannot be named %j',
    async (fileName) => {
      const answer = await api.call(uploads.prepare, { body: { fileName, fileSize: 100, version: '1.0.0' } });
      expect(answer.status).toBe(400);
    },
  );

  test('that does not fit on the disk is refused before a byte is sent', async () => {
    const answer = await api.call(uploads.prepare, {
      body: { fileName: 'App.exe', fileSize: 20 * 1024 ** 3, version: nextVersion() },
    });
    expect([201, 507]).toContain(answer.status);
  });

  test('whose preparation is repeated under one key is one upload', async () => {
    const request = { body: { fileName: 'App.exe', fileSize: 100, version: nextVersion() } };
    const headers = { 'idempotency-key': someId() };
    const [first, second] = [
      await api.call(uploads.prepare, request, headers),
      await api.call(uploads.prepare, request, headers),
    ];
    expect(second.body.data).toEqual(first.body.data);
    expect(await auditOf(server, first.body.data.uploadId)).toHaveLength(1);
  });
});

/** Where the chunks of an upload that is not complete lie. */
async function fileOf({ uploadId }: Prepared): Promise<string> {
  const row = await server.db
    .selectFrom('uploads')
    .selectAll()
    .where('upload_id', '=', uploadId)
    .executeTakeFirstOrThrow();
  return (await server.context.storage.fileOf!(unfinishedOf(row)))!;
}
