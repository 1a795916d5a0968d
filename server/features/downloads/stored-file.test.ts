import { copyFile, mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { releases, type Release } from '../../../contract/releases.ts';
import { program } from '../../../tests/binaries.ts';
import { makeApiKey, makeRelease, type MadeApiKey } from '../../../tests/factories.ts';
import {
  checkedTime,
  hours,
  startTestServer,
  startTwin,
  type Api,
  type Session,
  type TestServer,
} from '../../../tests/harness.ts';
import { othersIn, releaseRow } from '../../../tests/rows.ts';
import { nextVersion, uploader } from '../../../tests/uploading.ts';
import { openHolder } from '../../../tests/waiting-calls.ts';
import { stampOf } from '../../binaries/stamp.ts';
import { systemChange } from '../../change.ts';
import { checkClock } from '../../checked-time.ts';
import { housekeep } from '../../jobs/housekeeping.ts';
import { sweepUploads } from '../../jobs/upload-sweep.ts';
import { verifyFiles } from './stored-file.ts';

const bytes = program(200_000);
const lines: string[] = [];
let server: TestServer;
let admin: Session;
let staff: Api;
let key: MadeApiKey;
let release: Release;
let file: string;

beforeEach(async () => {
  lines.length = 0;
  server = await startTestServer({ config: { logLevel: 'info' }, onLog: (line) => lines.push(line) });
  // as at the start of a server
  await sweepUploads(server.context, checkedTime(server));
  admin = await server.signInAs('super_admin');
  staff = server.api(admin);
  key = await makeApiKey(staff, { scopes: ['updates'] });
  const up = uploader(server.url, staff, admin);
  release = (await up.direct({ version: nextVersion(), is_draft: 'false', file: bytes })).body.data;
  const { storage_key } = await row();
  file = join(server.context.config.dataDir, 'binaries', storage_key!);
});

const row = () => releaseRow(server, release);

const download = () => fetch(server.url + new URL(release.fileUrl).pathname, { headers: key.headers });
const expectDelivered = async () => {
  const answer = await download();
  expect(answer.status).toBe(200);
  expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
};
const expectRefused = async () => {
  const answer = await download();
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toBe('3600');
  expect(await answer.json()).toMatchObject({
    code: 'UNAVAILABLE',
    error: expect.stringMatching(/damaged or missing/),
  });
};
const feed = async () =>
  (await fetch(`${server.url}/api/v1/updates/electron/win/x64/latest.yml`, { headers: key.headers })).text();
const damagedAt = async () => (await staff.ok(releases.get, { params: { releaseId: release.id } })).damagedAt;

const events = async () =>
  (
    await server.db
      .selectFrom('audit_entries')
      .select('event_type')
      .where('event_type', 'like', 'release.file_%')
      .orderBy('audit_id')
      .execute()
  ).map((entry) => entry.event_type);

/** Other bytes of the same length, with the times of the file as they were: what a failing disk does. */
async function rot(): Promise<void> {
  const { atime, mtime } = await stat(file);
  const other = Buffer.from(bytes);
  other[100_000]! ^= 1;
  await writeFile(file, other);
  await utimes(file, atime, mtime);
}

/** A file of 1,000 bytes with the time that the whole one had when it was last delivered. */
async function shorten(): Promise<void> {
  const time = new Date('2026-01-01');
  await utimes(file, time, time);
  await expectDelivered();
  await writeFile(file, bytes.subarray(0, 1000));
  await utimes(file, time, time);
}

test('the file of a release that is deleted for good meanwhile is none, and not damaged', async () => {
  const at = { params: { releaseId: release.id }, body: { reason: 'x' } };
  await staff.ok(releases.softDelete, at);
  const { storage } = server.context;
  vi.spyOn(storage, 'stampOf').mockImplementationOnce(async (one) => {
    await staff.ok(releases.deletePermanently, {
      ...at,
      body: { reason: 'x', confirmation: 'PERMANENTLY DELETE' },
    });
    return storage.stampOf(one);
  });
  const answer = await fetch(server.url + new URL(release.fileUrl).pathname, { headers: admin.headers });
  expect([answer.status, await answer.json()]).toMatchObject([404, { code: 'NOT_FOUND' }]);
  expect(lines.filter((line) => line.includes('damaged'))).toEqual([]);
});

describe('a stored file', () => {
  test.each([
    ['other bytes', async () => writeFile(file, program(200_000))],
    ['fewer bytes', shorten],
    ['nothing', async () => rm(file)],
  ])('that has become %s is not delivered, is offered to nobody, and staff see it', async (_, spoil) => {
    expect(await feed()).toContain(release.version);
    await spoil();
    await expectRefused();
    await expectRefused();
    expect(await damagedAt()).toBe(server.clock.now().toISOString());
    expect(await feed()).not.toContain(release.version);
    expect(lines.filter((line) => line.includes('damaged or missing'))).toHaveLength(1);
    expect(lines.join()).toContain(release.id);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toMatch(/^lanyard_damaged_files 1$/m);
  });

  test('that a process with another storage lacks is only unavailable there, and offered as before', async () => {
    const said: string[] = [];
    const twin = await startTwin(server, { config: { logLevel: 'error' }, onLog: (line) => said.push(line) });
    await expect(sweepUploads(twin.context, checkedTime(twin))).rejects.toThrow('cannot be used');
    const here = uploader(server.url, staff, admin);
    const elsewhere = uploader(twin.url, twin.api(admin), admin);
    const prepared = await here.prepare(bytes);
    const refused = [
      await elsewhere.direct({ version: nextVersion(), file: bytes }),
      await elsewhere.chunk(prepared.uploadId, 0, bytes),
    ];
    expect(refused.map(({ status }) => status)).toEqual([503, 503]);
    await expect(elsewhere.prepare(bytes)).rejects.toThrow('cannot reach its storage');
    expect((await here.chunk(prepared.uploadId, 0, bytes)).status).toBe(200);
    const there = twin.url + new URL(release.fileUrl).pathname;
    const answer = await fetch(there, { headers: key.headers });
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ error: expect.stringContaining('cannot reach its storage') });
    expect(said.join()).toContain('STORAGE_URL: it is the same for all processes');
    expect(await damagedAt()).toBeNull();
    expect(await feed()).toContain(release.version);
    await expectDelivered();
    server.clock.advance(hours(25));
    await expect(verifyFiles(twin.context)).rejects.toThrow('cannot be used');
    expect((await row()).damaged_at).toBeNull();
    expect(await verifyFiles(server.context), 'not done by the other').toEqual({ checked: 1, damaged: 0 });
  });

  test('is delivered, and offered, again when the right one is back', async () => {
    await makeRelease(server);
    const others = await othersIn(server, 'releases', 'release_id', release.id);
    await rename(file, `${file}.away`);
    await expectRefused();
    expect(await othersIn(server, 'releases', 'release_id', release.id)).toEqual(others);
    await rename(`${file}.away`, file);
    await expectDelivered();
    expect(await damagedAt()).toBeNull();
    expect(await feed()).toContain(release.version);
  });

  test('with another time and the same bytes, as after a restored backup, is compared once and accepted', async () => {
    const before = await row();
    await copyFile(file, `${file}.copy`);
    await utimes(`${file}.copy`, new Date(), new Date('2026-01-01'));
    await rename(`${file}.copy`, file);
    await Promise.all([expectDelivered(), expectDelivered()]);
    const after = await row();
    expect(after.storage_stamp).not.toBe(before.storage_stamp);
    expect(after.damaged_at).toBeNull();
    expect(after.updated_at).toEqual(before.updated_at);
  });

  test('that rots with its time unchanged is found by the hash within a day, and what was mended within an hour', async () => {
    const fullAt = (await row()).full_at!.getTime();
    await rot();
    expect(await verifyFiles(server.context), 'compared when it was uploaded').toEqual({
      checked: 0,
      damaged: 0,
    });
    server.clock.advance(hours(24));
    expect(await verifyFiles(server.context)).toEqual({ checked: 1, damaged: 1 });
    expect(await verifyFiles(server.context), 'not again at once').toEqual({ checked: 0, damaged: 0 });
    await expectRefused();
    server.clock.advance(hours(1));
    expect(await verifyFiles(server.context)).toEqual({ checked: 1, damaged: 1 });
    expect(await events(), 'once, however often it is looked at').toEqual(['release.file_damaged']);
    await writeFile(file, bytes);
    server.clock.advance(hours(1));
    expect(await verifyFiles(server.context)).toEqual({ checked: 1, damaged: 0 });
    await expectDelivered();
    expect(await events()).toEqual(['release.file_damaged', 'release.file_recovered']);
    expect((await row()).full_at!.getTime() - fullAt, 'no deferral ends while nobody has it').toBe(hours(2));
    expect(lines.join()).toContain('right again');
  });

  test('that is damaged during a pause, or before and after it, moves deferrals by the time of both once', async () => {
    const params = { releaseId: release.id };
    const look = () => fetch(server.url + new URL(release.fileUrl).pathname, { headers: admin.headers });
    const steps = {
      damage: async () => (await rename(file, `${file}.away`), (await look()).status),
      mend: async () => (await rename(`${file}.away`, file), (await (await look()).arrayBuffer()).byteLength),
      pause: () => staff.ok(releases.pause, { params, body: { reason: 'Damaged?' } }),
      resume: () => staff.ok(releases.resume, { params }),
    };
    for (const order of [
      ['pause', 'damage', 'mend', 'resume'],
      ['pause', 'damage', 'resume', 'mend'],
      ['damage', 'pause', 'resume', 'mend'],
      ['damage', 'pause', 'mend', 'resume'],
    ] as const) {
      const fullAt = (await row()).full_at!.getTime();
      for (const step of order) {
        server.clock.advance(1000);
        await steps[step]();
      }
      expect((await row()).full_at!.getTime() - fullAt, order.join()).toBe(3000);
    }
  });

  test('whose check could not end is due again within the hour', async () => {
    await rename(file, `${file}.away`);
    // it has a size and a time, and cannot be read
    await mkdir(file);
    server.clock.advance(hours(24));
    await expect(verifyFiles(server.context)).rejects.toThrow('EISDIR');
    expect(await verifyFiles(server.context), 'others come first').toEqual({ checked: 0, damaged: 0 });
    await rm(file, { recursive: true });
    await rename(`${file}.away`, file);
    server.clock.advance(hours(1));
    expect(await verifyFiles(server.context)).toEqual({ checked: 1, damaged: 0 });
  });

  test('whose block map rots is delivered, and the job makes that map again', async () => {
    const map = `${file}.blockmap`;
    const [right, { atime, mtime }] = await Promise.all([readFile(map), stat(map)]);
    await writeFile(map, Buffer.alloc(right.length));
    await utimes(map, atime, mtime);
    server.clock.advance(hours(24));
    const read = vi.spyOn(server.context.storage, 'read');
    expect(await verifyFiles(server.context)).toEqual({ checked: 1, damaged: 0 });
    expect((await readFile(map)).equals(right)).toBe(true);
    expect(lines.join()).toContain('The block map of a release was damaged or missing');
    const { storage_key } = await row();
    await expectDelivered();
    const ofFile = read.mock.calls.filter(([wanted]) => wanted === storage_key);
    expect(ofFile, 'once to compare it, once to deliver it').toHaveLength(2);
    expect(await events()).toEqual([]);
  });

  test('that is replaced while its block map is made again is compared again', async () => {
    const { storage } = server.context;
    const put = storage.put.bind(storage);
    vi.spyOn(storage, 'put').mockImplementationOnce(async (...map) => {
      await writeFile(file, program(100_000));
      return put(...map);
    });
    await rm(`${file}.blockmap`);
    server.clock.advance(hours(24));
    expect(await verifyFiles(server.context)).toEqual({ checked: 1, damaged: 1 });
    await expectRefused();
    await writeFile(file, bytes);
    await expectDelivered();
  });

  test('that is put right while a check reads the damaged one stays right', async () => {
    await writeFile(file, program(200_000));
    await expectRefused();
    const { storage } = server.context;
    const read = storage.read.bind(storage);
    vi.spyOn(storage, 'read').mockImplementationOnce(async (...what) => {
      const damaged = await read(...what);
      await writeFile(`${file}.copy`, bytes);
      await rename(`${file}.copy`, file);
      await expectDelivered();
      return damaged;
    });
    server.clock.advance(hours(1));
    expect(await verifyFiles(server.context)).toEqual({ checked: 1, damaged: 0 });
    expect((await row()).damaged_at).toBeNull();
    expect(await events()).toEqual(['release.file_damaged', 'release.file_recovered']);
  });

  test('that another check finds right before this one records the damaged one stays right', async () => {
    const holder = await openHolder(server);
    const { storage } = server.context;
    await rot();
    const before = await row();
    server.clock.advance(hours(24));
    const read = storage.read.bind(storage);
    const reading = new Promise<() => void>((resolve) => {
      vi.spyOn(storage, 'read').mockImplementationOnce(async (...one) => {
        await new Promise<void>((goOn) => resolve(goOn));
        return read(...one);
      });
    });
    const check = verifyFiles(server.context);
    const goOn = await reading;
    const checked = await holder.whileWaiting(
      ['select from releases where release_id = $1 for update', release.id],
      async () => {
        goOn();
        return check;
      },
      async () => {
        await writeFile(file, bytes);
        const stamp = await stampOf(storage, { key: before.storage_key!, blockmapKey: before.blockmap_key });
        await holder.query('update releases set storage_stamp = $1', stamp);
      },
    );
    expect(checked).toEqual({ checked: 1, damaged: 0 });
    expect((await row()).damaged_at).toBeNull();
    expect(await events()).toEqual([]);
  });

  test('that is replaced at every look is neither damaged nor right: it is compared again', async () => {
    const { storage } = server.context;
    await rot();
    const before = await row();
    server.clock.advance(hours(24));
    const read = storage.read.bind(storage);
    let seconds = 0;
    const replacing = vi.spyOn(storage, 'read').mockImplementation(async (...one) => {
      const found = await read(...one);
      await utimes(file, new Date(), new Date(Date.UTC(2026, 0, 1, 0, 0, ++seconds)));
      return found;
    });
    await verifyFiles(server.context);
    expect(seconds).toBe(3);
    expect(await row()).toMatchObject({ damaged_at: null, storage_stamp: before.storage_stamp });
    replacing.mockRestore();
    server.clock.advance(hours(1));
    expect(await verifyFiles(server.context)).toEqual({ checked: 1, damaged: 1 });
  });

  test('whose block map cannot be read is right, and the job makes that map again', async () => {
    const { storage } = server.context;
    const read = storage.read.bind(storage);
    const { blockmap_key } = await row();
    let unreadable = 0;
    vi.spyOn(storage, 'read').mockImplementation(async (...what) => {
      if (what[0] !== blockmap_key || unreadable++ > 0) return read(...what);
      return new Readable({
        read() {
          this.destroy(Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' }));
        },
      });
    });
    server.clock.advance(hours(24));
    expect(await verifyFiles(server.context)).toEqual({ checked: 1, damaged: 0 });
    expect(lines.join()).toContain('made again');
    await expectDelivered();
    expect(await events()).toEqual([]);
  });

  test('that a clock ahead found damaged is right again without moving its deferrals into the past', async () => {
    const { full_at: before } = await row();
    const ahead = new Date(server.clock.now().getTime() + hours(24 * 30));
    await server.db.updateTable('releases').set({ damaged_at: ahead, verified_at: null }).execute();
    expect(await verifyFiles(server.context)).toEqual({ checked: 1, damaged: 0 });
    expect(await row()).toMatchObject({ damaged_at: null, full_at: before });
  });

  test('that is right again by a clock behind begins no hours in the past, and none before their start', async () => {
    const newest = server.clock.now();
    await systemChange(server.context, newest, ({ tx }) => checkClock(tx, newest));
    const from = (ms: number) => new Date(newest.getTime() + ms);
    server.clock.advance(-hours(240));
    for (const [began, expected] of [
      [from(-hours(20)), newest],
      [from(hours(72)), from(hours(72))],
    ] as const) {
      await server.db
        .updateTable('releases')
        .set({ damaged_at: from(-hours(2)), full_at: from(-hours(30)), verified_at: null })
        .set({ plan_step: 0, step_started_at: began })
        .execute();
      expect(await verifyFiles(server.context)).toEqual({ checked: 1, damaged: 0 });
      const full_at = from(-hours(28));
      expect(await row()).toMatchObject({ damaged_at: null, full_at, step_started_at: expected });
    }
  });

  test('that was checked by a clock ahead is due, not when that time comes', async () => {
    server.clock.advance(hours(24 * 365));
    expect(await verifyFiles(server.context)).toMatchObject({ checked: 1 });
    server.clock.advance(-hours(24 * 364));
    await housekeep(server.context, checkedTime(server));
    server.clock.advance(hours(24));
    expect(await verifyFiles(server.context)).toMatchObject({ checked: 1 });
    expect(await verifyFiles(server.context)).toMatchObject({ checked: 0 });
  });

  test('of an earlier version, of which nothing is known yet, is compared at its first delivery', async () => {
    await server.db.updateTable('releases').set({ storage_stamp: null, verified_at: null }).execute();
    await expectDelivered();
    expect((await row()).storage_stamp).toMatch(/^200000 /);
  });
});
