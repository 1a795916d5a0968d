import { describe, expect, test } from 'vitest';
import { releases as calls } from '../../../contract/releases.ts';
import type { RouteRequest } from '../../../contract/route.ts';
import { makeRelease } from '../../../tests/factories.ts';
import { startTestServer } from '../../../tests/harness.ts';

const server = await startTestServer();
const api = server.api(await server.signInAs('viewer'));
const bytes = 'x'.repeat(100);
const oldest = await makeRelease(server, {
  version: '1.9.0',
  releaseNotes: '100% STRASSE and İstanbul',
  bytes,
});
await makeRelease(server, { version: '1.10.0', platform: 'darwin', architecture: 'arm64', bytes });
await makeRelease(server, { version: '1.10.0', platform: 'win32', architecture: 'ia32', bytes });
await makeRelease(server, { version: '1.10.0', platform: 'win32', bytes });
await makeRelease(server, { version: '1.10.0-beta.2', channel: 'beta', isDraft: true, bytes });
await makeRelease(server, { version: '1.10.0-beta.11', channel: 'beta', bytes });
await makeRelease(server, { version: '2.0.0-alpha', channel: 'alpha', platform: 'linux', bytes });
const inactive = await makeRelease(server, { version: '0.1.0', bytes });
const trashed = await makeRelease(server, { version: '9.0.0', bytes });
const manager = server.api(await server.signInAs('admin'));
await manager.ok(calls.update, { params: { releaseId: inactive.id }, body: { isActive: false } });
await manager.ok(calls.softDelete, { params: { releaseId: trashed.id }, body: { reason: 'x' } });
await manager.ok(calls.pause, {
  params: { releaseId: oldest.id },
  body: { reason: 'Too many installs failed' },
});

type Query = RouteRequest<typeof calls.list>['query'];
async function list(query: Query = {}) {
  const { status, body, text } = await api.call(calls.list, { query });
  expect(status, text).toBe(200);
  return { versions: body.data.map((r) => r.version), rows: body.data, meta: body.meta };
}

describe('the list of releases', () => {
  test('has the newest version first by semver, then the platform; the bin is not in it', async () => {
    const { rows, meta } = await list();
    expect(rows.map((r) => `${r.version} ${r.platform} ${r.architecture}`)).toEqual([
      '2.0.0-alpha linux x64',
      '1.10.0 win32 x64',
      '1.10.0 win32 ia32',
      '1.10.0 darwin arm64',
      '1.10.0-beta.11 win32 x64',
      '1.10.0-beta.2 win32 x64',
      '1.9.0 win32 x64',
      '0.1.0 win32 x64',
    ]);
    expect(meta).toEqual({
      total: 8,
      limit: null,
      offset: 0,
      totalReleases: 8,
      activeReleases: 7,
      uniqueVersions: 6,
      storageBytes: 800,
    });
  });

  test('totals and active ignore the filters, versions and storage follow them', async () => {
    const { versions, meta } = await list({ platform: 'win32', architecture: 'x64', showInactive: 'false' });
    expect(versions).toEqual(['1.10.0', '1.10.0-beta.11', '1.10.0-beta.2', '1.9.0']);
    expect(meta).toMatchObject({
      total: 4,
      totalReleases: 8,
      activeReleases: 7,
      uniqueVersions: 4,
      storageBytes: 400,
    });
  });

  test.each([
    [{ platform: 'darwin' }, ['1.10.0']],
    [{ channel: 'beta' }, ['1.10.0-beta.11', '1.10.0-beta.2']],
    [{ architecture: 'ia32' }, ['1.10.0']],
    [{ channel: 'alpha', platform: 'win32' }, []],
    [{ search: 'BETA.11' }, ['1.10.0-beta.11']],
    [{ search: 'strasse' }, ['1.9.0']],
    [{ search: 'İSTANBUL' }, ['1.9.0']],
    [{ search: '100%' }, ['1.9.0']],
    [{ search: '1_9' }, []],
    [
      { search: 'beta', showInactive: 'true', channel: 'beta', platform: 'win32' },
      ['1.10.0-beta.11', '1.10.0-beta.2'],
    ],
    [{ search: '0.1.0', showInactive: 'false' }, []],
    [{ search: '0.1.0', showInactive: 'true' }, ['0.1.0']],
    [{ search: 'nothing of this' }, []],
    [{ paused: 'true' }, ['1.9.0']],
    [{ paused: 'true', search: 'beta' }, []],
    [{ paused: 'false', search: '1.9.0' }, []],
  ] satisfies [Query, string[]][])('under %j', async (query, expected) => {
    const { versions, meta } = await list(query);
    expect(versions).toEqual(expected);
    expect(meta.total).toBe(expected.length);
  });

  test('comes in pages of one order', async () => {
    const whole = await list();
    const pages = await Promise.all([0, 3, 6, 9].map((offset) => list({ limit: '3', offset: `${offset}` })));
    expect(pages.flatMap((page) => page.rows)).toEqual(whole.rows);
    expect(pages.map((page) => page.rows.length)).toEqual([3, 3, 2, 0]);
    expect(pages[1]!.meta).toMatchObject({ total: 8, limit: 3, offset: 3, uniqueVersions: 6 });
  });

  test.each([
    [{ platform: 'solaris' }, 'platform'],
    [{ showInactive: '1' }, 'showInactive'],
    [{ paused: 'yes' }, 'paused'],
    [{ limit: '0' }, 'limit'],
    [{ search: 'x'.repeat(201) }, 'search'],
    [{ sort: 'version' }, 'sort'],
  ])('refuses %j', async (query, field) => {
    const answer = await api.call(calls.list, { query: query as never });
    expect([answer.status, answer.body.details[0]!.path]).toEqual([400, field]);
  });
});
