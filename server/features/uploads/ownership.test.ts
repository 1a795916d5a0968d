import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { notices } from '../../../contract/notices.ts';
import { today } from '../../../contract/today.ts';
import { program } from '../../../tests/binaries.ts';
import { createTestDatabase, eventually, startTestServer, type TestServer } from '../../../tests/harness.ts';
import { nextVersion, uploader } from '../../../tests/uploading.ts';
import { requireOwn } from './ownership.ts';

const marker = '.lanyard-installation';
const bytes = program(1000);

/** A process as at its start, each with a storage of its own unless told otherwise. */
function startOn(first?: TestServer, folder?: string): Promise<TestServer> {
  const storage = folder === undefined ? {} : { config: { storage: { kind: 'disk' as const, folder } } };
  return startTestServer({
    ...(first ? { clock: first.clock, database: first.database } : {}),
    ...storage,
  });
}
const folderOf = ({ context }: TestServer) => join(context.config.dataDir, 'binaries');
const stateOf = async ({ url }: TestServer) =>
  ((await (await fetch(`${url}/readyz`)).json()) as { storage: string }).storage;
const becomes = (server: TestServer, state: string) =>
  eventually(async () => expect(await stateOf(server)).toBe(state));
const idIn = async (folder: string) => (await readFile(join(folder, marker), 'utf8')).trim();

const idOf = async ({ db }: TestServer) =>
  (await db.selectFrom('installation').selectAll().executeTakeFirst())?.installation_id;

async function upload(server: TestServer) {
  const session = await server.signInAs('super_admin');
  const up = uploader(server.url, server.api(session), session);
  return up.direct({ version: nextVersion(), file: bytes });
}

test('of two processes with empty storages of their own, one is told at once that its is not shared', async () => {
  const first = await startOn();
  await becomes(first, 'ok');
  const other = await startOn(first);
  await becomes(other, 'foreign');
  expect((await fetch(`${other.url}/readyz`)).status, 'licensing needs no storage').toBe(200);
  expect((await fetch(`${other.url}/readyz?require=storage`)).status).toBe(503);
  expect((await upload(other)).status).toBe(503);
  expect((await upload(first)).status).toBe(201);

  const seenBy = async (role: 'super_admin' | 'viewer') => {
    const api = other.api(await other.signInAs(role));
    const { lines } = await api.ok(today.get);
    const line = lines.find(({ kind }) => kind === 'storageDown');
    const { storageDown, storageForeign } = await api.ok(notices.list);
    return { count: line?.count, why: line?.next?.name, storageDown, storageForeign };
  };
  const why = expect.stringMatching(
    /^It has neither .* where a disk is not mounted\. Mount the disk, or correct STORAGE_URL: .* write [\w-]{36} into \.lanyard-installation there\.$/,
  ) as string;
  await eventually(async () =>
    expect(await seenBy('super_admin')).toEqual({ count: 1, why, storageDown: true, storageForeign: why }),
  );
  expect(await seenBy('viewer')).toEqual({
    count: 1,
    why: undefined,
    storageDown: true,
    storageForeign: null,
  });
});

test('of two that start at the same time with storages of their own, one is told; with a shared one, none', async () => {
  const database = await createTestDatabase();
  const pair = await Promise.all(
    [1, 2].map(() => startTestServer({ database, config: { logLevel: 'silent' } })),
  );
  await eventually(async () =>
    expect((await Promise.all(pair.map(stateOf))).toSorted()).toEqual(['foreign', 'ok']),
  );
  const folder = join(pair[0]!.context.config.dataDir, 'shared');
  const shared = await createTestDatabase();
  const two = await Promise.all(
    [1, 2].map(() => startTestServer({ database: shared, config: { storage: { kind: 'disk', folder } } })),
  );
  await Promise.all(two.map(upload)).then((sent) =>
    expect(sent.map(({ status }) => status)).toEqual([201, 201]),
  );
  expect(await Promise.all(two.map(stateOf))).toEqual(['ok', 'ok']);
});

test('the first file of another process in a storage that is looked at for the first time is ours', async () => {
  const server = await startOn();
  await becomes(server, 'ok');
  const id = (await idOf(server))!;
  const { db, context } = server;
  // as before the other process
  await db.deleteFrom('installation').execute();
  await rm(join(folderOf(server), marker));
  const list = context.storage.list.bind(context.storage);
  vi.spyOn(context.storage, 'list').mockImplementationOnce(async function* () {
    await db.insertInto('installation').values({ installation_id: id }).execute();
    await writeFile(join(folderOf(server), marker), id);
    expect((await upload(server)).status).toBe(201);
    yield* list();
  });
  await requireOwn({ ...context, db }, server.clock.now());
  expect(await idIn(folderOf(server))).toBe(id);
});

test('an emptied storage is not used until the id is written there, as the console says', async () => {
  const server = await startOn();
  await upload(server);
  const folder = folderOf(server);
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, maxRetries: 5 });
  await becomes(server, 'foreign');
  expect((await upload(server)).status).toBe(503);
  const api = server.api(await server.signInAs('super_admin'));
  const { storageForeign } = await api.ok(notices.list);
  await writeFile(join(folder, marker), /write ([\w-]{36}) into/.exec(storageForeign!)![1]!);
  await becomes(server, 'ok');
  expect((await upload(server)).status).toBe(201);
});

test('another installation does not take a storage without binaries', async () => {
  const first = await startOn();
  await becomes(first, 'ok');
  const other = await startOn(undefined, folderOf(first));
  await becomes(other, 'foreign');
  expect(await idIn(folderOf(first))).toBe(await idOf(first));
});

test('moved binaries are accepted without the id, and get it', async () => {
  const first = await startOn();
  await upload(first);
  const moved = `${folderOf(first)}-moved`;
  const isBinary = (source: string) => !source.includes('.lanyard') && !source.includes('incoming');
  await cp(folderOf(first), moved, { recursive: true, filter: isBinary });
  const second = await startOn(first, moved);
  await becomes(second, 'ok');
  expect(await idIn(moved)).toBe(await idIn(folderOf(first)));
});

test('the binaries of a database that had no id yet are accepted, and not those of another', async () => {
  const server = await startOn();
  await upload(server);
  const folder = folderOf(server);
  // as in a database of before there were ids
  await server.db.deleteFrom('installation').execute();
  await rm(join(folder, marker));
  const other = await startOn(undefined, folder);
  expect((await upload(other)).status).toBe(503);
  expect((await upload(server)).status).toBe(201);
  expect(await idOf(server)).toBe(await idIn(folder));
  const api = other.api((await other.signInAs('super_admin')).byCookie);
  const id = await idOf(server);
  await eventually(async () =>
    expect((await api.ok(notices.list)).storageForeign).toContain(`storage of the installation ${id}`),
  );
});

test('a storage that takes nothing at the first start is claimed when it does', async () => {
  const server = await startOn(undefined, join((await startOn()).context.config.dataDir, 'file', 'binaries'));
  const folder = server.context.config.storage.kind === 'disk' ? server.context.config.storage.folder : '';
  const parent = join(folder, '..');
  await becomes(server, 'ok');
  // as at a first start: no id anywhere, and no write succeeds
  await rename(parent, `${parent}-away`);
  await server.db.deleteFrom('installation').execute();
  await writeFile(parent, '');
  await becomes(server, 'unavailable');
  expect(await idOf(server)).toBeUndefined();
  await rm(parent);
  await mkdir(folder, { recursive: true });
  await becomes(server, 'ok');
  expect(await idIn(folder)).toHaveLength(36);
});

test('a storage whose first mark is written without an answer is claimed at the next look', async () => {
  const server = await startOn();
  await becomes(server, 'ok');
  const { db, context } = server;
  // as at a first start
  await db.deleteFrom('installation').execute();
  await rm(join(folderOf(server), marker));
  const storage = { ...context.storage };
  vi.spyOn(storage, 'writeNote').mockImplementationOnce(async (...note) => {
    await context.storage.writeNote(...note);
    throw new Error('no answer');
  });
  const own = () => requireOwn({ ...context, db, storage }, server.clock.now());
  await expect(own()).rejects.toThrow('no answer');
  await own();
  expect(await idIn(folderOf(server))).toBe(await idOf(server));
});
