import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { releases as releaseCalls, type Release } from '../../../contract/releases.ts';
import { updates as calls } from '../../../contract/updates.ts';
import { makeApiKey, makeRelease } from '../../../tests/factories.ts';
import { removeReleases } from '../../../tests/feed-room.ts';
import { addressOf, eventually, startTestServer } from '../../../tests/harness.ts';
import { machineRow, releaseRow } from '../../../tests/rows.ts';
import { rolloutBucket } from './bucket.ts';
import { machineHashOf } from '../../machine-hash.ts';
import { squirrelName, squirrelVersion } from './squirrel-name.ts';

const server = await startTestServer();
const staff = server.api(await server.signInAs('super_admin'));
const key = await makeApiKey(staff, { scopes: ['updates'] });
// each test has the feeds to itself
beforeEach(() => removeReleases(server));

describe('the name of a package', () => {
  test.each([
    ['MyApp-1.2.0-full.nupkg', '1.2.0', 'MyApp-1.2.0-full.nupkg'],
    ['MyApp-1.2.0-beta3-full.nupkg', '1.2.0-beta.3', 'MyApp-1.2.0-beta3-full.nupkg'],
    ['MyApp.nupkg', '1.2.0+5', 'MyApp-1.2.0-full.nupkg'],
    ['My App 1.2.0.nupkg', '1.2.0', 'My_App-1.2.0-full.nupkg'],
    ['my.app64.1.2.0.nupkg', '1.2.0', 'my.app64-1.2.0-full.nupkg'],
    ['1.2.0.nupkg', '1.2.0', 'app-1.2.0-full.nupkg'],
  ])('%s of %s is listed as %s', (fileName, version, listed) => {
    expect(squirrelName({ fileName, version })).toBe(listed);
    // as Squirrel.Windows reads version and kind out of it
    const base = listed.replace(/(-full|-delta)?\.nupkg$/, '');
    expect(/\d+(\.\d+){0,3}(-[A-Za-z][0-9A-Za-z-]*)?$/.exec(base)![0]).toBe(squirrelVersion(version));
    expect(listed.endsWith('-delta.nupkg')).toBe(false);
  });
});

/** RELEASES as Squirrel.Windows reads it: ReleaseEntry.ParseReleaseFile. */
function parseReleases(text: string) {
  expect(text).not.toContain('\r');
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const match = /^([0-9a-fA-F]{40})\s+(\S+)\s+(\d+)[\r]*$/.exec(line.replace(/\s*#.*$/, ''));
      expect(match, line).not.toBeNull();
      const [, sha1, name, size] = match as unknown as [string, string, string, string];
      const url = /^https?:/.test(name) ? new URL(name) : undefined;
      const fileName = url ? url.pathname.split('/').at(-1)! : name;
      expect(fileName).not.toMatch(/[\\/:*?"<>|]/);
      return { sha1, name, fileName, query: url?.search ?? '', size: Number(size), line };
    });
}

describe('Squirrel.Windows', () => {
  const bytes = 'PK a package';
  const nupkg = (version: string, fields: object = {}) =>
    makeRelease(server, {
      version,
      fileKind: 'nupkg',
      fileName: `MyApp-${squirrelVersion(version)}-full.nupkg`,
      bytes,
      ...fields,
    });
  const path = '/api/v1/updates/squirrel/win32/x64';
  const addressFor = ({ id, version }: Release) =>
    `http://localhost:8080/api/v1/updates/files/${id}/${version}/MyApp-${version}-full.nupkg`;
  async function releases(query = '') {
    const answer = await fetch(`${server.url}${path}/RELEASES${query}`, { headers: key.headers });
    expect(answer.status).toBe(200);
    return parseReleases(await answer.text());
  }

  test('is told of the full package, exactly', async () => {
    const release = await nupkg('1.1.0');
    const answer = await fetch(`${server.url}${path}/RELEASES?id=MyApp&localVersion=1.0.0&arch=amd64`, {
      headers: key.headers,
    });
    const sha1 = createHash('sha1').update(bytes).digest('hex').toUpperCase();
    expect(await answer.text()).toBe(`${sha1} ${addressFor(release)} ${bytes.length}\n`);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  });

  test('fetches the package that is listed, also where two channels have one of that version', async () => {
    await nupkg('1.1.0', { fileName: 'MyApp.nupkg', rolloutPercentage: 0 });
    await nupkg('1.1.0', { fileName: 'MyApp.nupkg', channel: 'beta', bytes: 'PK of the beta' });
    const [entry] = await releases('?channel=beta');
    const answer = await fetch(entry!.name.replace('http://localhost:8080', server.url), {
      headers: key.headers,
    });
    expect(entry!.fileName).toBe('MyApp-1.1.0-full.nupkg');
    const text = await answer.text();
    expect(text).toBe('PK of the beta');
    expect(createHash('sha1').update(text).digest('hex').toUpperCase()).toBe(entry!.sha1);
    expect(text.length).toBe(entry!.size);
  });

  test('finds the key of its feed in the address of the package as well', async () => {
    const release = await nupkg('1.1.0');
    const query = new URLSearchParams({ key: key.key, machineId: 'ws 7', localVersion: '1.0.0' });
    const answer = await fetch(`${server.url}${path}/RELEASES?${query.toString()}`);
    const [entry] = parseReleases(await answer.text());
    expect(entry).toMatchObject({
      fileName: 'MyApp-1.1.0-full.nupkg',
      name: `${addressFor(release)}?key=${key.key}&machineId=ws+7`,
    });
    const file = await fetch(entry!.name.replace('http://localhost:8080', server.url));
    expect(await file.text()).toBe(bytes);
    expect((await fetch(`${server.url}${path}/RELEASES`)).status).toBe(401);
  });

  test('is served when it asks again in lower case, as it does after a failure', async () => {
    const release = await nupkg('1.1.0-Beta.1', { channel: 'beta' });
    const query = `?key=${key.key}&machineId=ws-7&channel=beta&id=MyApp&localVersion=1.0.0&arch=amd64`;
    const asked = `${path}/RELEASES${query}`.toLowerCase();
    const answer = await fetch(server.url + asked);
    expect(answer.status).toBe(200);
    const [entry] = parseReleases(await answer.text());
    expect(entry!.name).toContain(`/${release.id}/1.1.0-Beta.1/`);
    expect(entry!.query).toBe(`?key=${key.key}&machineId=ws-7`);
    const file = await fetch(entry!.name.replace('http://localhost:8080', server.url).toLowerCase());
    expect(await file.text()).toBe(bytes);
    await eventually(async () => {
      const machine = await machineRow(server, 'ws-7');
      expect(machine).toMatchObject({ last_version: '1.0.0', total_downloads: 1 });
    });
    // the version that runs is one of ours, whatever the case
    const running = `${path}/releases?key=${key.key}&channel=beta&localversion=1.1.0-beta1`;
    expect((await fetch(server.url + running)).headers.get('x-update-reason')).toBe('NOT_NEWER');
  });

  test('is told of its own version when there is nothing newer, so that it does not go back', async () => {
    expect(await releases('?id=MyApp&localVersion=1.2.0')).toMatchObject([
      { name: 'MyApp-1.2.0-full.nupkg' },
    ]);
    await nupkg('1.1.0');
    expect(await releases('?id=MyApp&localVersion=1.2.0')).toMatchObject([
      { name: 'MyApp-1.2.0-full.nupkg' },
    ]);
    expect(await releases('?id=MyApp&localVersion=1.1.0')).toMatchObject([
      { name: 'MyApp-1.1.0-full.nupkg' },
    ]);
    expect(await releases('?id=My.App&localVersion=2.0.0-beta1')).toMatchObject([
      { name: 'My.App-2.0.0-beta1-full.nupkg' },
    ]);
  });

  test('never gets an empty list', async () => {
    expect(await releases()).toHaveLength(1);
    await nupkg('1.1.0', { isDraft: true });
    expect(await releases()).toHaveLength(1);
    for (const version of ['1.0', '', 'none'])
      expect(await releases(`?localVersion=${version}`), version).toHaveLength(1);
  });

  test('counts a name or version that is longer than any as unknown', async () => {
    const [id, version] = [`${'-'.repeat(200)}a`, `1.0.0-${'a'.repeat(200)}`];
    expect(await releases(`?id=${id}&localVersion=${version}`)).toMatchObject([
      { name: 'app-0.0.0-full.nupkg' },
    ]);
    expect(await releases(`?id=${id.slice(1)}&localversion=${version}&currentVersion=1.2.0`)).toMatchObject([
      { name: `${id.slice(1)}-1.2.0-full.nupkg` },
    ]);
  });

  test('follows channel and rollout, and prereleases by their names', async () => {
    await nupkg('1.1.0');
    await nupkg('1.2.0-beta.3', { channel: 'beta' });
    expect(await releases('?channel=beta&localVersion=1.1.0')).toMatchObject([
      { fileName: 'MyApp-1.2.0-beta3-full.nupkg' },
    ]);
    // what Squirrel calls 1.2.0-beta3 is our 1.2.0-beta.3, which is older than 1.2.0-beta.10
    await nupkg('1.2.0-beta.10', { channel: 'beta' });
    expect(await releases('?channel=beta&localVersion=1.2.0-beta3')).toMatchObject([
      { fileName: 'MyApp-1.2.0-beta10-full.nupkg' },
    ]);
    const partial = await nupkg('1.3.0', { rolloutPercentage: 50 });
    const { rollout_salt: salt } = await releaseRow(server, partial);
    for (const machineId of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
      const inside = rolloutBucket(salt, machineHashOf(machineId)) < 50;
      const [entry] = await releases(`?localVersion=1.0.0&machineId=${machineId}`);
      expect(entry!.fileName).toBe(inside ? 'MyApp-1.3.0-full.nupkg' : 'MyApp-1.1.0-full.nupkg');
    }
  });

  test('offers the next prerelease to machines whose own lies in the bin', async () => {
    const bad = await nupkg('1.2.0-beta.1', { channel: 'beta' });
    await nupkg('1.2.0-beta.2', { channel: 'beta' });
    await staff.ok(releaseCalls.softDelete, { params: { releaseId: bad.id }, body: { reason: 'crashes' } });
    expect(await releases('?channel=beta&id=MyApp&localVersion=1.2.0-beta1')).toMatchObject([
      { fileName: 'MyApp-1.2.0-beta2-full.nupkg' },
    ]);
    expect(await releases('?channel=beta&id=MyApp&localVersion=1.2.0-beta3')).toMatchObject([
      { fileName: 'MyApp-1.2.0-beta3-full.nupkg', size: 1 },
    ]);
  });

  test('never goes back where prereleases are written without a dot', async () => {
    const bad = await nupkg('1.2.0-beta3', { channel: 'beta' });
    await nupkg('1.2.0-beta2', { channel: 'beta' });
    await staff.ok(releaseCalls.softDelete, { params: { releaseId: bad.id }, body: { reason: 'crashes' } });
    expect(await releases('?channel=beta&id=MyApp&localVersion=1.2.0-beta3')).toMatchObject([
      { fileName: 'MyApp-1.2.0-beta3-full.nupkg', size: 1 },
    ]);
  });

  test('is given no older package where its version has four numbers, or two', async () => {
    await nupkg('2.9.0');
    for (const running of ['3.0.0.1', '2.9.0.1', '3.0'])
      expect(await releases(`?id=MyApp&localVersion=${running}`)).toMatchObject([
        { name: `MyApp-${running}-full.nupkg`, size: 1 },
      ]);
    expect(await releases('?id=MyApp&localVersion=2.8.0.1')).toMatchObject([
      { fileName: 'MyApp-2.9.0-full.nupkg' },
    ]);
  });

  test('leaves the installers of electron-updater alone', async () => {
    await makeRelease(server, { version: '3.0.0' });
    await nupkg('1.1.0');
    expect(await releases()).toMatchObject([{ fileName: 'MyApp-1.1.0-full.nupkg' }]);
  });
});

describe('Squirrel.Mac', () => {
  const zip = (version: string, fields: object = {}) =>
    makeRelease(server, {
      version,
      platform: 'darwin',
      architecture: 'arm64',
      fileKind: 'zip',
      fileName: `App-${version}.zip`,
      bytes: 'PK an app',
      ...fields,
    });
  const ask = (version: string, query: { channel?: 'beta'; key?: string } = {}, headers = key.headers) =>
    fetch(server.url + addressOf(calls.squirrelMac, { params: { architecture: 'arm64', version }, query }), {
      headers,
    });

  test('is told of the update in the form that it reads', async () => {
    const release = await zip('1.1.0', { releaseNotes: 'Faster' });
    const answer = await ask('1.0.0');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await answer.json()).toEqual({
      url: `http://localhost:8080/api/v1/updates/files/${release.id}/1.1.0/App-1.1.0.zip`,
      name: '1.1.0',
      notes: 'Faster',
      pub_date: '2026-11-20T09:30:00+00:00',
      releaseId: release.id,
      isMandatory: false,
    });
  });

  test('is offered a universal build, which is kept as x64', async () => {
    await zip('1.1.0', { architecture: 'x64' });
    const answer = await fetch(`${server.url}/api/v1/updates/squirrel/darwin/universal/1.0.0`, {
      headers: key.headers,
    });
    expect(await answer.json()).toMatchObject({ name: '1.1.0' });
  });

  test('is told by 204 that there is none', async () => {
    expect((await ask('1.0.0')).status).toBe(204);
    await zip('1.1.0');
    for (const version of ['1.1.0', '1.2.0', '1.2', '1.1.0.4']) {
      const answer = await ask(version);
      expect([answer.status, await answer.text()]).toEqual([204, '']);
    }
    expect((await ask('1.1.0-beta.1')).status).toBe(200);
  });

  test('fetches the zip by the address alone, since it sends no header there', async () => {
    await zip('1.2.0-beta.1', { channel: 'beta' });
    const answer = await ask('1.0.0', { channel: 'beta', key: key.key }, {});
    const { url } = (await answer.json()) as { url: string };
    const file = await fetch(url.replace('http://localhost:8080', server.url));
    expect(await file.text()).toBe('PK an app');
    expect((await ask('1.0.0', {}, {})).status).toBe(401);
  });

  test('is offered what staff withdraw no more', async () => {
    await zip('1.1.0');
    const bad = await zip('1.2.0');
    expect(((await (await ask('1.0.0')).json()) as { name: string }).name).toBe('1.2.0');
    await staff.ok(releaseCalls.withdraw, { params: { releaseId: bad.id }, body: { reason: 'crashes' } });
    expect(((await (await ask('1.0.0')).json()) as { name: string }).name).toBe('1.1.0');
  });
});
