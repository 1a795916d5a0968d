import { HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { releases, type Release } from '../../../contract/releases.ts';
import { uploads } from '../../../contract/uploads.ts';
import { program, sha512Of } from '../../../tests/binaries.ts';
import { makeApiKey } from '../../../tests/factories.ts';
import {
  days,
  movableClock,
  seconds,
  startTestServer,
  startTwin,
  type Api,
  type Identity,
  type Session,
  type TestServer,
  checkedTime,
} from '../../../tests/harness.ts';
import { releaseRow } from '../../../tests/rows.ts';
import type { StorageConfig } from '../../config.ts';
import { startOver } from './start-over.ts';
import { findUpload, unfinishedOf } from './upload-row.ts';
import { sweepUploads } from '../../jobs/upload-sweep.ts';
import { connect } from '../../storage/s3-client.ts';
import { newBucket } from '../../../tests/fake-s3.ts';
import { MiB, nextVersion, uploader, type Prepared, type Uploader } from '../../../tests/uploading.ts';
import { newFileKey } from '../../binaries/storage-key.ts';
import { newFolder } from '../../../tests/place.ts';

type Place = [name: string, config: () => Promise<StorageConfig | undefined>, hasSignedDownloads: boolean];
const places: Place[] = [
  ['disk', async () => undefined, false],
  ['S3, streamed', () => newBucket(false, 'binaries/'), false],
  ['S3, by signed address', () => newBucket(true, 'binaries/'), true],
];

describe.each(places)('uploads and downloads with storage on %s', (_, configure, hasSignedDownloads) => {
  let server: TestServer;
  let manager: Session;
  let api: Api;
  let up: Uploader;
  let key: Identity;
  beforeAll(async () => {
    const storage = await configure();
    server = await startTestServer({
      clock: movableClock(new Date()),
      ...(storage ? { config: { storage } } : {}),
    });
    manager = await server.signInAs('binary_manager');
    api = server.api(manager);
    up = uploader(server.url, api, manager);
    key = await makeApiKey(server.api(await server.signInAs('super_admin')), { scopes: ['updates'] });
    // as at the start of a server
    await sweepUploads(server.context, checkedTime(server));
  });
  afterAll(() => server.close());

  // two chunks
  const bytes = program(9 * MiB + 5);
  async function keys(): Promise<string[]> {
    const found: string[] = [];
    for await (const thing of server.context.storage.list())
      found.push(thing.unfinished ? `${thing.key} (unfinished)` : thing.key);
    return found.toSorted();
  }
  const loseChunks = async ({ uploadId }: Prepared) => {
    const upload = (await findUpload(server.db, uploadId))!;
    await server.context.storage.abandon(unfinishedOf(upload));
  };
  const download = async (release: Release, range?: string) => {
    const url = server.url + new URL(release.fileUrl).pathname;
    const response = await fetch(url, { headers: { ...key.headers, ...(range ? { range } : {}) } });
    return { response, bytes: Buffer.from(await response.arrayBuffer()) };
  };

  test('in chunks: release, block map, whole and ranged download, removal for good', async () => {
    const large = program(17 * MiB + 5);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    const version = nextVersion();
    const prepared = await up.prepare(large, { version });
    await up.chunk(prepared.uploadId, 1, randomBytes(8 * MiB));
    await Promise.all([up.sendAll(large, prepared), up.sendAll(large, prepared)]);
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => up.complete(large, prepared, { version, isDraft: false })),
    );
    expect(answers.map((answer) => answer.status)).toEqual([201, 201, 201]);
    const release = answers[0]!.body.data;
    expect(await keys()).toEqual([prepared.fileKey, `${prepared.fileKey}.blockmap`]);

    for (const [range, expected] of [
      [undefined, large],
      ['bytes=100-', large.subarray(100)],
    ] as const) {
      const answer = await download(release, range);
      expect([answer.response.redirected, answer.bytes.equals(expected)], range).toEqual([
        hasSignedDownloads,
        true,
      ]);
    }
    const one = await download(release, 'bytes=100-199');
    expect([one.response.status, one.response.redirected]).toEqual([206, false]);
    expect(one.bytes.equals(large.subarray(100, 200))).toBe(true);
    const several = await download(release, 'bytes=0-9,500-509');
    const head = await fetch(server.url + new URL(release.fileUrl).pathname, {
      method: 'HEAD',
      redirect: 'manual',
      headers: key.headers,
    });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(large.length)]);
    expect(several.response.headers.get('content-type')).toMatch(/^multipart\/byteranges/);
    expect(several.bytes.includes(large.subarray(500, 510))).toBe(true);

    const params = { releaseId: release.id };
    await api.ok(releases.softDelete, { params, body: { reason: 'Over' } });
    const body = { confirmation: 'PERMANENTLY DELETE', reason: 'Over' };
    await api.ok(releases.deletePermanently, { params, body });
    expect(await keys()).toEqual([]);
  });

  test('a file that was exchanged in the storage is not delivered; a block map is made again', async () => {
    const small = program(MiB);
    const answer = await up.direct({ version: nextVersion(), is_draft: 'false', file: small });
    expect(answer.status, answer.text).toBe(201);
    const release = answer.body.data;
    const { storage_key: fileKey, blockmap_key: mapKey } = await releaseRow(server, release);
    const blockmap = { ...release, fileUrl: `${release.fileUrl}.blockmap` };
    const { bytes: map } = await download(blockmap);
    const place = server.context.config.storage;

    for (const spoiled of [Buffer.alloc(map.length), map.subarray(1)]) {
      await lay(place, mapKey!, spoiled);
      expect((await download(blockmap)).bytes.equals(map)).toBe(true);
    }
    await server.context.storage.remove(mapKey!);
    expect((await download(blockmap)).bytes.equals(map)).toBe(true);

    await lay(place, fileKey!, program(MiB));
    for (const spoiled of [release, blockmap, release])
      expect((await download(spoiled)).response.status).toBe(503);
    await lay(place, fileKey!, small);
    expect((await download(release)).bytes.equals(small)).toBe(true);
    expect((await download(blockmap)).bytes.equals(map)).toBe(true);
    const said = await server.db
      .selectFrom('audit_entries')
      .select(['event_type', 'success'])
      .where('resource_id', '=', release.id)
      .where('event_type', 'like', 'release.file_%')
      .orderBy('audit_id')
      .execute();
    expect(said).toEqual([
      { event_type: 'release.file_damaged', success: false },
      { event_type: 'release.file_recovered', success: true },
    ]);
  });

  test('at once: release and download', async () => {
    const small = program(MiB);
    const answer = await up.direct({ version: nextVersion(), is_draft: 'false', file: small });
    expect(answer.status, answer.text).toBe(201);
    expect((await download(answer.body.data)).bytes.equals(small)).toBe(true);
    // more than one part on S3
    const large = program(9 * MiB);
    const second = await up.direct({ version: nextVersion(), is_draft: 'false', file: large });
    expect((await download(second.body.data)).bytes.equals(large)).toBe(true);
  });

  // the rest is the same as without
  if (hasSignedDownloads) return;

  test('nothing is left of what is refused or cancelled', async () => {
    const before = await keys();
    expect((await up.direct({ version: nextVersion(), file: randomBytes(MiB) })).status).toBe(422);
    expect((await up.direct({ version: nextVersion(), file: program(21 * MiB) })).status).toBe(413);
    const cancelled = await up.prepare(bytes);
    const sending = up.sendAll(bytes, cancelled).catch(() => undefined);
    expect((await up.cancel(cancelled.uploadId)).status).toBe(204);
    await sending;
    expect(await keys()).toEqual(before);

    const wrong = await up.prepare(bytes);
    await up.sendAll(bytes, wrong);
    const other = sha512Of(Buffer.from('other'));
    expect((await up.complete(bytes, wrong, { sha512: other })).status).toBe(422);
    // the right hash may still come, and so may the end of it all
    const short = await up.chunk(wrong.uploadId, 0, randomBytes(5));
    expect(short.status).toBe(422);
    expect((await up.complete(bytes, wrong)).status).toBe(201);
    const second = await up.prepare(bytes);
    await up.sendAll(bytes, second);
    await up.complete(bytes, second, { sha512: other });
    expect((await up.cancel(second.uploadId)).status).toBe(204);
    expect(await keys()).toEqual([...before, wrong.fileKey, `${wrong.fileKey}.blockmap`].toSorted());
  });

  test('an upload whose chunks the storage no longer has is begun again', async () => {
    const prepared = await up.prepare(bytes);
    await up.sendAll(bytes, prepared);
    await loseChunks(prepared);
    const again = Array.from({ length: 2 }, () =>
      up.chunk(prepared.uploadId, 1, up.pieces(bytes, prepared)[1]!),
    );
    for (const { status, body } of await Promise.all(again))
      if (status !== 200) expect([status, body.code]).toEqual([409, 'CHUNKS_LOST']);
    expect((await up.state(prepared.uploadId)).body.data.received.length).toBeLessThan(2);
    await up.sendAll(bytes, prepared);
    expect((await up.complete(bytes, prepared)).status).toBe(201);
  });

  test('one begun again through another process is completed by the one that has hashed the lost chunks', async () => {
    const { storage } = server.context.config;
    const twin = await startTwin(server, { config: { storage } });
    const there = uploader(twin.url, twin.api(manager), manager);
    const prepared = await up.prepare(bytes);
    const last = up.pieces(bytes, prepared)[1]!;
    await up.chunk(prepared.uploadId, 1, last);
    await loseChunks(prepared);
    expect((await there.chunk(prepared.uploadId, 1, last)).body).toMatchObject({ code: 'CHUNKS_LOST' });
    await there.sendAll(bytes, prepared);
    const answer = await up.complete(bytes, prepared);
    expect(answer.status, answer.text).toBe(201);
  });

  test.each([
    ['at its completion', bytes],
    ['after a completion that was refused', program(bytes.length).fill(1, MiB)],
  ])('an upload whose chunks are lost %s is begun again', async (_name, first) => {
    const prepared = await up.prepare(bytes);
    await up.sendAll(first, prepared);
    if (first !== bytes) {
      expect((await up.complete(bytes, prepared)).status).toBe(422);
      await up.chunk(prepared.uploadId, 0, up.pieces(bytes, prepared)[0]!);
      await up.sendAll(bytes, prepared);
    }
    await loseChunks(prepared);
    const lost = await up.complete(bytes, prepared);
    expect([lost.status, lost.body.code]).toEqual([409, 'CHUNKS_LOST']);
    expect((await up.state(prepared.uploadId)).body.data.received).toEqual([]);
    await up.sendAll(bytes, prepared);
    expect((await up.complete(bytes, prepared)).status).toBe(201);
  });

  test('an upload is not begun again while another call completes it', async () => {
    const { uploadId } = await up.prepare(bytes);
    const upload = (await findUpload(server.db, uploadId))!;
    const completes = { claim: randomUUID(), claimed_at: server.clock.now() };
    await server.db.updateTable('uploads').set(completes).where('upload_id', '=', uploadId).execute();
    const before = await keys();
    expect(await startOver(server.context, upload)).toMatchObject({
      message: 'This upload is being completed.',
    });
    expect(await keys()).toEqual(before);
    expect(await findUpload(server.db, uploadId)).toMatchObject(completes);
    server.clock.advance(seconds(11));
    expect((await up.cancel(uploadId)).status).toBe(204);
  });

  test('an upload that is cancelled meanwhile is not begun again', async () => {
    const { uploadId } = await up.prepare(bytes);
    const upload = (await findUpload(server.db, uploadId))!;
    expect((await up.cancel(uploadId)).status).toBe(204);
    const before = await keys();
    expect(await startOver(server.context, upload)).toMatchObject({ message: 'This upload was cancelled.' });
    expect(await keys()).toEqual(before);
  });

  test('an upload that the database refuses to begin again leaves no second one in the storage', async () => {
    const { uploadId } = await up.prepare(bytes);
    const upload = (await findUpload(server.db, uploadId))!;
    await server.pool.query(
      `create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
       create trigger refuse before update on uploads for each row execute function refuse()`,
    );
    const before = await keys();
    try {
      await expect(startOver(server.context, upload)).rejects.toThrow('refused');
    } finally {
      await server.pool.query('drop function refuse cascade');
    }
    expect(await keys()).toEqual(before);
    expect((await up.cancel(uploadId)).status).toBe(204);
  });

  test('other bytes of a completion that was refused can be replaced', async () => {
    const prepared = await up.prepare(bytes);
    await up.sendAll(program(bytes.length).fill(1, MiB), prepared);
    expect((await up.complete(bytes, prepared)).status).toBe(422);
    // on S3, the first chunk begins the upload again
    await up.chunk(prepared.uploadId, 0, up.pieces(bytes, prepared)[0]!);
    await up.sendAll(bytes, prepared);
    const release = await up.complete(bytes, prepared, { isDraft: false });
    expect(release.status, release.text).toBe(201);
    expect((await download(release.body.data)).bytes.equals(bytes)).toBe(true);
  });

  test('the sweep removes what nobody knows', async () => {
    const ofRelease = await up.prepare(bytes);
    await up.sendAll(bytes, ofRelease);
    await up.complete(bytes, ofRelease);
    const before = await keys();
    await server.context.storage.begin(ofRelease.fileKey, bytes.length);
    await server.context.storage.begin(newFileKey('exe'), 1000);
    const orphan = newFileKey('exe');
    await layOrphan(server, orphan);
    await layOrphan(server, `${orphan}.blockmap`);
    expect(await sweepUploads(server.context, checkedTime(server))).toEqual({ cancelled: 0, removed: 0 });
    server.clock.advance(days(1.1));
    expect(await sweepUploads(server.context, checkedTime(server))).toEqual({ cancelled: 0, removed: 4 });
    expect(await keys()).toEqual(before);
  });

  test('the sweep leaves alone what has no name of ours', async () => {
    const { storage } = server.context.config;
    const names = [
      '.DS_Store',
      'my file.exe',
      'orphan.exe',
      `${newFileKey('exe')}.bak`,
      `${newFileKey('exe')}~`,
      `old-${newFileKey('exe')}`,
      `staging/${newFileKey('exe')}`,
    ];
    for (const name of names) await lay(storage, name);
    server.clock.advance(days(1.1));
    expect(await sweepUploads(server.context, checkedTime(server))).toEqual({ cancelled: 0, removed: 0 });
    for (const name of names) expect(await isLaid(storage, name), name).toBe(true);
  });

  test('the sweep is for the one installation whose binaries lie there, and tells another what to do', async () => {
    const storage = await configure();
    // what lies there is old at once
    const clock = movableClock(new Date(Date.now() + days(2)));
    const own = await startTestServer({ clock, ...(storage ? { config: { storage } } : {}) });
    const session = await own.signInAs('binary_manager');
    const uploaded = await uploader(own.url, own.api(session), session).direct({
      version: nextVersion(),
      file: program(MiB),
    });
    expect(uploaded.status, uploaded.text).toBe(201);
    await layOrphan(own, newFileKey('exe'));
    await lay(own.context.config.storage, '.lanyard-installation', '');
    const other = await startTestServer({ clock, config: { storage: own.context.config.storage } });

    await expect(sweepUploads(other.context, checkedTime(other))).rejects.toThrow(
      'It holds binaries that the database does not know. Give this installation a STORAGE_URL of its own',
    );
    expect(await sweepUploads(own.context, checkedTime(own))).toEqual({ cancelled: 0, removed: 1 });
    await layOrphan(own, newFileKey('exe'));
    const ours = await installationOf(own);
    await expect(sweepUploads(other.context, checkedTime(other))).rejects.toThrow(
      `It is marked as the storage of the installation ${ours}. Give this installation`,
    );

    const theirs = randomUUID();
    await lay(own.context.config.storage, '.lanyard-installation', theirs);
    await expect(sweepUploads(own.context, checkedTime(own))).rejects.toThrow(
      `storage of the installation ${theirs}. Mount the disk, or correct STORAGE_URL: it is the same for all ` +
        `processes of an installation, and for no other. If this is its storage now, write ${ours} into`,
    );
    await lay(own.context.config.storage, '.lanyard-installation', ours);
    expect(await sweepUploads(own.context, checkedTime(own))).toEqual({ cancelled: 0, removed: 1 });
  });
});

const layOrphan = (server: TestServer, key: string) =>
  server.context.storage.put(key, Readable.from([Buffer.from('MZ')]));

const installationOf = async ({ db }: TestServer) =>
  (await db.selectFrom('installation').select('installation_id').executeTakeFirstOrThrow()).installation_id;

/** Puts a file there without the service. */
async function lay(config: StorageConfig, name: string, content: string | Buffer = 'x'): Promise<void> {
  if (config.kind === 'disk') {
    const file = join(config.folder, name);
    await mkdir(dirname(file), { recursive: true });
    return writeFile(file, content);
  }
  const client = connect(config);
  await client.send(
    new PutObjectCommand({ Bucket: config.bucket, Key: config.prefix + name, Body: content }),
  );
  client.destroy();
}

async function isLaid(config: StorageConfig, name: string): Promise<boolean> {
  if (config.kind === 'disk') return existsSync(join(config.folder, name));
  const client = connect(config);
  const found = await client
    .send(new HeadObjectCommand({ Bucket: config.bucket, Key: config.prefix + name }))
    .catch(() => undefined);
  client.destroy();
  return found !== undefined;
}

describe('a storage that fails in the middle of a direct upload', () => {
  const bytes = program(9 * MiB);

  test('is told as unavailable where it is S3', async () => {
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'key');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
    const urls: string[] = [];
    const s3 = createServer(refuseParts)
      .on('request', ({ url }) => urls.push(url!))
      .listen(0, '127.0.0.1');
    await once(s3, 'listening');
    const { port } = s3.address() as AddressInfo;
    const server = await startTestServer({
      config: {
        storage: {
          kind: 's3',
          bucket: 'releases',
          prefix: '',
          endpoint: `http://127.0.0.1:${port}`,
          region: 'us-east-1',
          redirect: false,
        },
      },
    });
    const manager = await server.signInAs('binary_manager');
    const up = uploader(server.url, server.api(manager), manager);
    const answer = await up.direct({ version: nextVersion(), file: bytes });
    expect([answer.status, answer.body.code]).toEqual([503, 'UNAVAILABLE']);
    expect(urls.join()).toContain('partNumber');
    await server.close();
    s3.close();
  });

  test('is told as unavailable where it is a disk, and takes the file when it is back', async () => {
    const server = await startTestServer();
    const manager = await server.signInAs('binary_manager');
    const up = uploader(server.url, server.api(manager), manager);
    const incoming = join(server.context.config.dataDir, 'binaries', 'incoming');
    await rename(incoming, `${incoming}.away`);
    expect((await up.direct({ version: nextVersion(), file: bytes })).status).toBe(503);
    await rename(`${incoming}.away`, incoming);
    const answer = await up.direct({ version: nextVersion(), file: bytes });
    expect(answer.status, answer.text).toBe(201);
  });
});

let owner: Buffer | undefined;
/** An empty S3 that keeps the note of the owner, begins multipart uploads and has no room for their parts. */
function refuseParts(request: IncomingMessage, response: ServerResponse): void {
  const body: Buffer[] = [];
  request
    .on('data', (piece: Buffer) => body.push(piece))
    .on('end', () => {
      if (request.method === 'POST') {
        response.setHeader('content-type', 'application/xml');
        response.end('<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>');
      } else {
        const statuses: Record<string, number> = { DELETE: 204, PUT: 503 };
        const { pathname } = new URL(request.url!, 'http://s3');
        const isBucket = /^\/releases\/?$/.test(pathname);
        const isNote = pathname.endsWith('.lanyard-installation');
        if (isNote && request.method === 'PUT') owner = Buffer.concat(body);
        response.writeHead(isBucket || (isNote && owner) ? 200 : (statuses[request.method!] ?? 404));
        response.end(isBucket && request.method === 'GET' ? '<Result/>' : isNote ? owner : '');
      }
    });
}

describe.skipIf(process.getuid?.() !== 0)('a disk that is full [needs root]', () => {
  let folder: string;
  let server: TestServer;
  let up: Uploader;
  let api: Api;
  beforeAll(async () => {
    folder = await newFolder();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', folder]);
    server = await startTestServer({ config: { storage: { kind: 'disk', folder } } });
    const manager = await server.signInAs('binary_manager');
    api = server.api(manager);
    up = uploader(server.url, api, manager);
  });
  afterAll(async () => {
    await server.close();
    execFileSync('umount', ['-l', folder]);
  });
  const names = async () => {
    const found: string[] = [];
    for await (const { key } of server.context.storage.list()) found.push(key);
    return found;
  };

  test('gives 507, leaves nothing half-written, and goes on when there is room again', async () => {
    const bytes = program(20 * MiB);
    const prepared = await up.prepare(bytes);
    const filled = await up.direct({ version: nextVersion(), file: program(10 * MiB) });
    expect(filled.status).toBe(201);
    const tooMuch = await api.call(uploads.prepare, {
      body: { fileName: 'App.exe', fileSize: 100 * MiB, version: nextVersion() },
    });
    expect([tooMuch.status, tooMuch.body.code]).toEqual([507, 'STORAGE_FULL']);
    const pieces = up.pieces(bytes, prepared);
    expect((await up.chunk(prepared.uploadId, 0, pieces[0]!)).status).toBe(200);
    const full = await up.chunk(prepared.uploadId, 1, pieces[1]!);
    expect([full.status, full.body.code]).toEqual([507, 'STORAGE_FULL']);
    expect((await up.state(prepared.uploadId)).body.data.received).toEqual([0]);
    const direct = await up.direct({ version: nextVersion(), file: program(10 * MiB) });
    expect([direct.status, direct.body.code]).toEqual([507, 'STORAGE_FULL']);
    const { id } = filled.body.data;
    const row = await releaseRow(server, { id });
    expect((await names()).toSorted()).toEqual(
      [row.storage_key!, row.blockmap_key!, prepared.fileKey].toSorted(),
    );

    const params = { releaseId: id };
    await api.ok(releases.softDelete, { params, body: { reason: 'Room' } });
    await api.ok(releases.deletePermanently, {
      params,
      body: { confirmation: 'PERMANENTLY DELETE', reason: 'Room' },
    });
    await up.sendAll(bytes, prepared);
    const answer = await up.complete(bytes, prepared);
    expect(answer.status, answer.text).toBe(201);
  });
});
