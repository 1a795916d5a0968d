import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { machines as machineCalls } from '../../../contract/machines.ts';
import { releases as releaseCalls, type Release } from '../../../contract/releases.ts';
import { updates as calls } from '../../../contract/updates.ts';
import { program, noise } from '../../../tests/binaries.ts';
import { installApp, nativeUpdater } from '../../../tests/desktop-client.ts';
import { askFeed, makeApiKey, makeRelease, reportEvents, unique } from '../../../tests/factories.ts';
import { halfOf, removeReleases, startFeedRoom } from '../../../tests/feed-room.ts';
import { eventually, startTestServer } from '../../../tests/harness.ts';
import { machineRow, releaseRow } from '../../../tests/rows.ts';
import { systemChange } from '../../change.ts';
import { machineHashOf } from '../../machine-hash.ts';
import { stampOf } from '../../binaries/stamp.ts';
import { rolloutBucket } from './bucket.ts';

const { server, folder, staff, key, feedOf, install, offered, textOf, upload, updated } =
  await startFeedRoom();
// each test has the feeds to itself
beforeEach(() => removeReleases(server));

const change = (release: Release, body: Record<string, unknown>) =>
  staff.ok(releaseCalls.update, { params: { releaseId: release.id }, body });
const rollOut = (release: Release, percentage: number) =>
  staff.ok(releaseCalls.rollout, { params: { releaseId: release.id }, body: { percentage } });

/** Has the service take the stored bytes for right ones, so that it delivers them whatever their hash. */
async function believeStored(releaseId: string): Promise<void> {
  const { context } = server;
  await systemChange(context, server.clock.now(), async ({ tx, announce }) => {
    const releases = tx.selectFrom('releases').where('release_id', '=', releaseId);
    const file = await releases
      .select(['storage_key as key', 'blockmap_key as blockmapKey'])
      .executeTakeFirstOrThrow();
    const storage_stamp = await stampOf(context.storage, { ...file, key: file.key! });
    await tx.updateTable('releases').set({ storage_stamp }).where('release_id', '=', releaseId).execute();
    await announce('releases');
  });
}

test.each([
  ['win/x64/latest.yml', { fileKind: 'exe' }],
  ['mac/arm64/latest-mac.yml', { platform: 'darwin', architecture: 'arm64', fileKind: 'zip' }],
  ['mac/universal/latest-mac.yml', { platform: 'darwin', architecture: 'x64', fileKind: 'zip' }],
] as const)("the address of electron-builder's ${os} and ${arch} is understood: %s", async (path, fields) => {
  await makeRelease(server, { version: '1.1.0', ...fields });
  expect(await textOf(path)).toContain('version: "1.1.0"');
});

describe('NsisUpdater', () => {
  test('finds the newest release, with its notes', async () => {
    await makeRelease(server, { version: '1.1.0' });
    const newest = await makeRelease(server, {
      version: '1.10.0',
      releaseNotes: 'Faster: "quotes", #, \\ and\n- lists\u2028too',
      isMandatory: true,
    });
    const app = await install();
    expect(await app.check()).toMatchObject({
      version: '1.10.0',
      releaseNotes: 'Faster: "quotes", #, \\ and\n- lists\u2028too',
      releaseDate: newest.releaseDate,
      releaseId: newest.id,
      isMandatory: true,
    });
    expect(await app.check()).not.toHaveProperty('stagingPercentage');
    expect(app.executor.asked[0]!.path).toMatch(/latest\.yml\?noCache=/);
  });

  test('downloads it and checks its hash', async () => {
    const bytes = randomBytes(300_000).toString('hex');
    await makeRelease(server, { version: '1.1.0', bytes, fileName: 'App Setup 1.1.0 ü+1.exe' });
    const app = await install();
    await app.check();
    expect(await readFile(await app.download(), 'utf8')).toBe(bytes);
  });

  test('refuses what does not match its hash', async () => {
    const other = createHash('sha512').update('other').digest('base64');
    const { id } = await makeRelease(server, { version: '1.1.0', bytes: 'MZ tampered with', sha512: other });
    await believeStored(id);
    const app = await install();
    await app.check();
    await expect(app.download()).rejects.toThrow(/sha512 checksum mismatch/);
  });

  test('takes a program whose name ends in capitals', async () => {
    const bytes = program(5000);
    await upload(bytes, { version: '1.1.0', fileName: 'Setup.EXE' });
    expect((await updated()).equals(bytes)).toBe(true);
  });

  test('gets the bytes of its own channel, also where two have one version and one name', async () => {
    const [stable, beta, arm] = [program(5000), program(5000), program(5000)];
    const fileName = 'Setup.exe';
    const early = await upload(stable, { version: '1.1.0', fileName });
    await upload(beta, { version: '1.1.0', fileName, channel: 'beta' });
    await upload(arm, { version: '1.1.0', fileName, architecture: 'arm64' });
    await rollOut(early, 0);
    expect((await updated({ channel: 'beta' })).equals(beta)).toBe(true);
    expect((await updated({ feed: feedOf('win32', 'arm64') })).equals(arm)).toBe(true);
    await rollOut(early, 100);
    expect((await updated()).equals(stable)).toBe(true);
  });

  test('never gets other bytes under the address that a feed named', async () => {
    const bytes = [program(5000), program(5000)] as const;
    const first = await upload(bytes[0], { version: '1.1.0', fileName: 'Setup.exe' });
    const app = await install();
    await app.check();
    await staff.ok(releaseCalls.softDelete, { params: { releaseId: first.id }, body: { reason: 'bad' } });
    await upload(bytes[1], { version: '1.1.0', fileName: 'Setup.exe' });
    await expect(app.download()).rejects.toThrow('404');
    expect((await updated()).equals(bytes[1])).toBe(true);
  });

  test.each([
    ['its own', '1.1.0'],
    ['an older one', '1.2.0'],
    ['an older one than a prerelease', '1.2.0-beta.1'],
  ])('is told of no update where the newest is %s', async (_, version) => {
    await makeRelease(server, { version: '1.1.0' });
    for (const more of [{}, { 'x-app-version': version }] as Record<string, string>[]) {
      const app = await install({ version, headers: { ...key.headers, ...more } });
      expect(await app.check()).toBeUndefined();
      expect(app.log.join()).toContain('is not available');
    }
  });

  test('is told of no update where there is no release at all, and where only a draft is there', async () => {
    expect(await offered()).toBeUndefined();
    await makeRelease(server, { version: '2.0.0', isDraft: true });
    expect(await offered()).toBeUndefined();
    expect(await offered({ headers: { ...key.headers, 'x-app-version': '1.0.0' } })).toBeUndefined();
  });

  test('that may go back does not, where nothing is there for it', async () => {
    // setting a channel allows downgrades
    expect(await offered({ channel: 'beta' })).toBeUndefined();
    await makeRelease(server, { version: '1.1.0' });
    const headers = { ...key.headers, 'x-app-version': '1.2.0' };
    const app = await install({ version: '1.2.0', channel: 'beta', headers });
    expect(app.updater.allowDowngrade).toBe(true);
    expect(await app.check()).toBeUndefined();
  });

  test('follows its channel', async () => {
    await makeRelease(server, { version: '1.1.0' });
    await makeRelease(server, { version: '1.2.0-beta.1', channel: 'beta' });
    await makeRelease(server, { version: '1.3.0-alpha.1', channel: 'alpha' });
    expect(await offered()).toBe('1.1.0');
    expect(await offered({ channel: 'beta' })).toBe('1.2.0-beta.1');
    expect(await offered({ channel: 'alpha' })).toBe('1.3.0-alpha.1');
    await makeRelease(server, { version: '1.4.0' });
    expect(await offered({ channel: 'beta', version: '1.2.0-beta.1' })).toBe('1.4.0');
  });

  test('below the minimum version gets the newest that it can take', async () => {
    await makeRelease(server, { version: '1.1.0' });
    await makeRelease(server, { version: '2.0.0', minimumAppVersion: '1.1.0' });
    const at = (version: string) => ({ version, headers: { ...key.headers, 'x-app-version': version } });
    expect(await offered(at('1.0.0'))).toBe('1.1.0');
    expect(await offered(at('1.1.0'))).toBe('2.0.0');
    // it has not said what it runs
    expect(await offered()).toBe('2.0.0');
  });

  test('hears at once of what staff change', async () => {
    const release = await makeRelease(server, { version: '1.1.0' });
    expect(await offered()).toBe('1.1.0');
    await change(release, { isActive: false });
    expect(await offered()).toBeUndefined();
    await change(release, { isActive: true });
    const because = { params: { releaseId: release.id }, body: { reason: 'bad' } };
    await staff.ok(releaseCalls.softDelete, because);
    expect(await offered()).toBeUndefined();
    await staff.ok(releaseCalls.restore, because);
    expect(await offered()).toBe('1.1.0');
  });
});

describe('a rollout', () => {
  test('reaches the machines whose bucket it has come to, the same each time, and more as it widens', async () => {
    await makeRelease(server, { version: '1.1.0' });
    const release = await makeRelease(server, { version: '1.2.0', rolloutPercentage: 20 });
    const { rollout_salt: salt } = await releaseRow(server, release);
    const bucketOf = (id: string) => rolloutBucket(salt, machineHashOf(id));
    const idIn = (from: number, below: number): string => {
      const id = randomUUID();
      return bucketOf(id) >= from && bucketOf(id) < below ? id : idIn(from, below);
    };
    const ids = [idIn(0, 20), idIn(0, 20), idIn(20, 60), idIn(20, 60), idIn(60, 100), idIn(60, 100)];
    const apps = await Promise.all(ids.map((stagingId) => install({ stagingId })));
    const offers = () => Promise.all(apps.map(async (app) => (await app.check())?.version));
    const [old, wanted] = ['1.1.0', '1.2.0'];
    expect(await offers()).toEqual([wanted, wanted, old, old, old, old]);
    expect(await offers()).toEqual([wanted, wanted, old, old, old, old]);
    await rollOut(release, 60);
    expect(await offers()).toEqual([wanted, wanted, wanted, wanted, old, old]);
  });

  test('leaves an app out that no id tells', async () => {
    await makeRelease(server, { version: '1.2.0', rolloutPercentage: 99 });
    expect(await textOf('win32/x64/latest.yml')).toContain('version: "0.0.0"');
  });
});

describe('a check', () => {
  test('is recorded with the machine, its version and what it was offered', async () => {
    const release = await makeRelease(server, { version: '1.1.0' });
    await makeRelease(server, { version: '1.0.0' });
    const headers = { ...key.headers, 'x-app-version': '1.0.0', 'x-machine-id': 'workstation 7' };
    await offered({ headers, channel: 'beta' });
    const machine = await eventually(async () => (await machineRow(server, 'workstation 7')) ?? false);
    expect(machine).toMatchObject({
      platform: 'win32',
      architecture: 'x64',
      channel: 'beta',
      last_version: '1.0.0',
      total_checks: 1,
    });
    const events = await server.db
      .selectFrom('update_events')
      .selectAll()
      .where('machine_hash', '=', machine.machine_hash)
      .execute();
    expect(events).toEqual([
      expect.objectContaining({
        event_type: 'check',
        from_version: '1.0.0',
        to_version: '1.1.0',
        release_id: release.id,
      }),
    ]);
    // from now on the version is known, also where the app does not say it
    await change(release, { minimumAppVersion: '1.0.5' });
    expect(await offered({ headers: { ...key.headers, 'x-machine-id': 'workstation 7' } })).toBeUndefined();
    expect(await offered()).toBe('1.1.0');
  });

  test('is answered as the page of the machine explains, whatever it runs, and whatever of that is gone', async () => {
    const versions = fc.constantFrom(
      '1.0.0',
      '1.1.0',
      '1.2.0+5',
      '1.2.0',
      '2.0.0-beta.1',
      '2.0.0',
      '999.0.0',
    );
    const build = fc.record({
      version: versions.filter((version) => version !== '999.0.0'),
      minimumAppVersion: fc.constantFrom(null, '1.0.5', '1.2.0'),
      isTrashed: fc.boolean(),
    });
    const builds = fc.uniqueArray(build, { maxLength: 4, selector: ({ version }) => version });
    const machine = fc.record({
      reported: fc.option(versions, { nil: undefined }),
      sent: fc.option(versions, { nil: undefined }),
    });
    const answered = async (headers: Record<string, string>) => {
      const { headers: told, text } = await askFeed(server.api({ headers }));
      const [, version] = /version: "(.+)"\nfiles:\n/.exec(text) ?? [];
      return [version, told.get('x-update-reason')];
    };
    const explained = async (machineId: string) => {
      const params = { id: machineHashOf(machineId) };
      const all = await staff.ok(machineCalls.explain, { params });
      const newest = all.find(({ reason }) => reason !== 'DELETED');
      return [all.find((one) => one.offered)?.version, newest?.reason ?? 'NONE'];
    };
    await fc.assert(
      fc.asyncProperty(builds, fc.array(machine, { minLength: 1, maxLength: 8 }), async (set, fleet) => {
        await removeReleases(server);
        for (const { isTrashed, ...one } of set) {
          const { id: releaseId } = await makeRelease(server, one);
          if (isTrashed)
            await staff.ok(releaseCalls.softDelete, { params: { releaseId }, body: { reason: 'bad' } });
        }
        const compare = async ({ reported, sent }: (typeof fleet)[number]) => {
          const machineId = unique('any machine');
          const headers = {
            ...key.headers,
            'x-machine-id': machineId,
            ...(sent !== undefined && { 'x-app-version': sent }),
          };
          if (reported !== undefined)
            await reportEvents(server.api(key), [{ machineId, fromVersion: reported }]);
          await answered(headers);
          const checks = reported === undefined ? 1 : 2;
          await eventually(async () => (await machineRow(server, machineId))?.total_checks === checks);
          expect(await explained(machineId)).toEqual(await answered(headers));
        };
        await Promise.all(fleet.map(compare));
      }),
      { numRuns: 15, seed: 7 },
    );
  });

  test('of a machine that went back without a word is told of no update, not of one without a file', async () => {
    await makeRelease(server, { version: '2.0.0' });
    const headers = { ...key.headers, 'x-machine-id': 'set up again' };
    await offered({ version: '2.0.0', headers: { ...headers, 'x-app-version': '2.0.0' } });
    await eventually(async () => (await machineRow(server, 'set up again'))?.last_version === '2.0.0');
    expect(await offered({ version: '1.0.0', headers })).toBeUndefined();
    expect(await offered({ version: '1.0.0', headers, channel: 'beta' })).toBeUndefined();
  });

  test('needs a key for updates, in a header or in the address', async () => {
    await makeRelease(server, { version: '1.1.0', bytes: 'MZ by the key' });
    const lines: string[] = [];
    const loud = await startTestServer({
      database: server.database,
      config: { logLevel: 'debug', storage: server.context.config.storage },
      onLog: (line) => lines.push(line),
      clock: server.clock,
    });
    const feed = (query: string) => `${loud.url}/api/v1/updates/electron/win32/x64/${query}`;
    const app = await installApp({ version: '1.0.0', feed: feed(`?key=${key.key}`) });
    expect((await app.check())?.version).toBe('1.1.0');
    expect(await readFile(await app.download(), 'utf8')).toBe('MZ by the key');
    expect(app.executor.asked.at(-1)!.path).toContain(`/1.1.0/Setup.exe?key=${key.key}`);
    const { headers: validating } = await makeApiKey(staff, { scopes: ['validate'] });
    for (const [headers, refused] of [
      [{}, '401'],
      [validating, '403'],
    ] as const)
      await expect((await install({ feed: feed(''), headers })).check()).rejects.toThrow(refused);
    await loud.close();
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join()).not.toContain(key.key.slice(16));
  });

  test('of a feed that is not there is refused', async () => {
    for (const file of ['latest-mac.yml', 'nightly.yml', 'latest.json', 'latest-x64.yml']) {
      const answer = await server.api(key).call(calls.electron, {
        params: { platform: 'win32', architecture: 'x64', file },
      });
      expect(answer.status).toBe(404);
    }
  });
});

describe('MacUpdater', () => {
  test('takes the zip, and hands it to Squirrel.Mac', async () => {
    const mac = { platform: 'darwin' as const, version: '1.1.0' };
    await makeRelease(server, { ...mac, fileKind: 'dmg', fileName: 'App-1.1.0.dmg', bytes: 'a disk image' });
    await makeRelease(server, { ...mac, fileKind: 'zip', fileName: 'App-1.1.0-mac.zip', bytes: 'PK a zip' });
    await makeRelease(server, { ...mac, fileKind: 'dmg', version: '1.2.0', fileName: 'App-1.2.0.dmg' });
    const app = await install({ kind: 'mac', feed: feedOf('darwin') });
    expect((await app.check())?.version).toBe('1.1.0');
    expect(app.executor.asked[0]!.path).toContain('/latest-mac.yml');
    await app.download();
    expect(nativeUpdater.fetched?.toString()).toBe('PK a zip');
  });
});

describe('a differential download', () => {
  test.each([
    ['in one request of several ranges', true],
    ['range by range', false],
  ])('fetches only what has changed, %s', async (_, multipleRanges) => {
    const old = program(3_000_000);
    const changed = Buffer.concat([
      old.subarray(0, 500_000),
      randomBytes(20_000),
      old.subarray(500_000, 1_500_000),
      randomBytes(10_000),
      old.subarray(1_530_000),
    ]);
    await upload(old, { version: '1.0.0' });
    await upload(changed, { version: '1.1.0' });
    const installed = join(folder, `installed-${randomUUID()}.exe`);
    await writeFile(installed, old);
    const app = await install({ installed, multipleRanges });
    expect((await app.check())?.version).toBe('1.1.0');
    const file = await app.download();
    expect((await readFile(file)).equals(changed)).toBe(true);
    const ranges = app.executor.asked.filter(({ range }) => range !== undefined);
    expect(ranges.length).toBe(multipleRanges ? 1 : ranges.length);
    if (multipleRanges) expect(ranges[0]!.range).toContain(', ');
    else expect(ranges.length).toBeGreaterThan(1);
    expect(app.executor.asked.map(({ path }) => path.split('?')[0]!.split('/').slice(-2).join('/'))).toEqual(
      expect.arrayContaining(['1.0.0/App-Setup-1.0.0.exe.blockmap', '1.1.0/App-Setup-1.1.0.exe.blockmap']),
    );
    expect(app.executor.received).toBeLessThan(halfOf(old));
    expect(app.log.join('\n')).toMatch(/To download: [\d.,]+ KB \(\d+%\)/);
  });

  test('finds the block map of the version that runs on another channel', async () => {
    const old = program(1_000_000, noise(1_000_000, 'old'));
    const next = Buffer.concat([old.subarray(0, 500_000), noise(10_000, 'next'), old.subarray(510_000)]);
    await upload(old, { version: '1.0.0-beta.1', channel: 'beta' });
    await upload(next, { version: '1.0.0' });
    const installed = join(folder, `installed-${randomUUID()}.exe`);
    await writeFile(installed, old);
    const app = await install({ version: '1.0.0-beta.1', channel: 'beta', installed });
    expect((await app.check())?.version).toBe('1.0.0');
    expect((await readFile(await app.download())).equals(next)).toBe(true);
    expect(app.executor.received).toBeLessThan(halfOf(old));
  });
});
