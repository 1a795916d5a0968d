import { describe, expect, test } from 'vitest';
import { audit as auditCalls } from '../../../contract/audit.ts';
import { releases as calls, type Release } from '../../../contract/releases.ts';
import { makeApiKey, makeRelease, plainBuild } from '../../../tests/factories.ts';
import { auditOf, minutes, startTestServer, startTwin } from '../../../tests/harness.ts';
import { runChange } from '../../change.ts';
import { systemCaller, type Actor } from '../../caller.ts';
import { checkIdentity, createRelease, type NewRelease } from './releases.ts';
import { createReleaseSet } from './live-releases.ts';

const server = await startTestServer();
const api = server.api(await server.signInAs('binary_manager'));

const nowhere = { releaseId: '01920000-0000-7000-8000-000000000000' };
const get = (id: string) => api.ok(calls.get, { params: { releaseId: id } });
const patch = (id: string, body: object) => api.call(calls.update, { params: { releaseId: id }, body });
async function patched(id: string, body: object): Promise<Release> {
  const answer = await patch(id, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data;
}

const build = {
  ...plainBuild,
  version: '3.0.0',
  fileName: 'Lanyard Setup 3.0.0+1.exe',
  fileSize: 123,
  sha512: 'x',
  sha1: null,
  storageKey: 'k',
  storageStamp: null,
} satisfies NewRelease;
const create = (fields: Partial<NewRelease> = {}, actor: Actor = { kind: 'system' }) =>
  runChange(server.context, { ...systemCaller(server.clock.now()), actor }, (change) =>
    createRelease(change, { ...build, ...fields } as NewRelease),
  );

describe('creating a release', () => {
  test('answers it with its address, and the audit log has it', async () => {
    const made = (await create({ version: '3.0.0-rc.1+build.5' })) as Release;
    expect(made).toMatchObject({
      version: '3.0.0-rc.1+build.5',
      isActive: true,
      downloadCount: 0,
      pausedAt: null,
      acceptableFailures: null,
      fileUrl: `/api/v1/updates/files/${made.id}/3.0.0-rc.1+build.5/Lanyard%20Setup%203.0.0+1.exe`,
    });
    expect(await get(made.id)).toEqual({ ...made, fileUrl: `http://localhost:8080${made.fileUrl}` });
    const [entry] = await auditOf(server, made.id);
    expect(entry).toMatchObject({ event_type: 'release.created', resource_type: 'release' });
    expect(entry!.changes_summary).toBe('3.0.0-rc.1+build.5 for Windows x64 (stable): created at 100 %');
  });

  test('is refused beside the insert to who may not publish, whoever looked at it before', async () => {
    const { id: apiKeyId } = await makeApiKey(server.api(await server.signInAs('super_admin')));
    const key: Actor = { kind: 'apiKey', apiKeyId, name: 'n', scopes: ['updates'] };
    expect(await create({ version: '3.0.2' }, key)).toMatchObject({ failure: 'FORBIDDEN' });
    expect(await create({ version: '3.0.2', isDraft: true }, key)).toMatchObject({ isDraft: true });
  });

  test('never makes a mandatory draft', async () => {
    const made = (await create({ version: '3.0.1', isDraft: true, isMandatory: true })) as Release;
    expect(made).toMatchObject({ isDraft: true, isMandatory: false });
  });

  test('refuses a second live build of one kind, also when both come at once', async () => {
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => create({ version: '3.1.0' })));
    const refused = outcomes.filter((o) => 'failure' in o);
    expect(outcomes.length - refused.length).toBe(1);
    expect(refused[0]).toMatchObject({
      failure: 'ALREADY_EXISTS',
      message:
        'There is already 3.1.0 for Windows x64 (stable) with a file of this kind (.exe). Its file is the same as this one: an earlier attempt may have succeeded.',
    });
    expect(await checkIdentity(server.db, { ...build, version: '3.1.0' })).toEqual(refused[0]);
    for (const sha512 of ['other', ''])
      expect(await checkIdentity(server.db, { ...build, version: '3.1.0', sha512 })).toMatchObject({
        message: 'There is already 3.1.0 for Windows x64 (stable) with a file of this kind (.exe).',
      });
    const others = [
      { fileKind: 'nupkg' },
      { channel: 'beta' },
      { architecture: 'arm64' },
      { platform: 'linux' },
    ];
    for (const other of others as object[]) {
      expect(await checkIdentity(server.db, { ...build, version: '3.1.0', ...other })).toBeUndefined();
      expect(await create({ version: '3.1.0', ...other })).toMatchObject({ version: '3.1.0' });
    }
  });
});

describe('the live set', () => {
  test('is kept, and follows a change that another process makes', async () => {
    const twin = await startTwin(server);
    const releases = createReleaseSet(twin.context);
    const live = async () => (await releases()).live;
    const made = await makeRelease(server, { version: '77.0.0', rolloutPercentage: 5 });
    const before = await live();
    expect(before[0]).toMatchObject({
      id: made.id,
      fileKind: 'exe',
      externalUrl: null,
      storageKey: expect.any(String),
      rolloutSalt: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    // the twin hears of the release a moment later
    await expect.poll(async () => (await live()) === (await live())).toBe(true);
    await api.ok(calls.softDelete, { params: { releaseId: made.id }, body: { reason: 'x' } });
    await expect.poll(async () => (await live()).some((r) => r.id === made.id)).toBe(false);
  });
});

describe('one release', () => {
  test('that is not there, or in the bin, is not found', async () => {
    const made = await makeRelease(server);
    await api.ok(calls.softDelete, { params: { releaseId: made.id }, body: { reason: 'x' } });
    for (const [releaseId, error] of [
      [made.id, 'This release is in the recycle bin. Restore it there first.'],
      [nowhere.releaseId, 'There is no such release. It may have been deleted.'],
    ] as const) {
      const answer = await api.call(calls.get, { params: { releaseId } });
      expect([answer.status, answer.body.error]).toEqual([404, error]);
    }
    expect((await api.call(calls.get, { params: { releaseId: 'x' } })).status).toBe(400);
  });
});

describe('changing a release', () => {
  test('writes what is sent and leaves the rest as it is', async () => {
    const made = await makeRelease(server, {
      releaseNotes: 'Notes',
      minimumAppVersion: '0.9.0',
      acceptableFailures: 2.5,
      isMandatory: true,
    });
    const channel = await patched(made.id, { channel: 'beta' });
    expect(channel).toEqual({ ...made, channel: 'beta', updatedAt: channel.updatedAt });
    const cleared = await patched(made.id, {
      releaseNotes: '',
      minimumAppVersion: null,
      acceptableFailures: null,
      isMandatory: false,
    });
    expect(cleared).toMatchObject({
      releaseNotes: null,
      minimumAppVersion: null,
      acceptableFailures: null,
      isMandatory: false,
    });
    const set = await patched(made.id, {
      releaseNotes: ' New ',
      minimumAppVersion: '1.0.0',
      acceptableFailures: 2.5,
      isActive: false,
    });
    expect(set).toMatchObject({
      releaseNotes: 'New',
      minimumAppVersion: '1.0.0',
      acceptableFailures: 2.5,
      isActive: false,
    });
    const entries = await auditOf(server, made.id);
    expect(entries.map((e) => e.event_type)).toEqual([
      'release.created',
      ...Array(3).fill('release.updated'),
    ]);
    expect(entries[1]!.changes_summary).toBe(
      `${made.version} for Windows x64 (beta): channel: stable → beta`,
    );
    expect(entries[1]!.before).toMatchObject({ channel: 'stable' });
    expect(entries[1]!.after).toMatchObject({ channel: 'beta' });
  });

  test('a draft is not mandatory: ticking draft clears it, and it cannot be set on one', async () => {
    const made = await makeRelease(server, { isMandatory: true });
    expect(await patched(made.id, { isDraft: true })).toMatchObject({ isDraft: true, isMandatory: false });
    expect(await patched(made.id, { isMandatory: true })).toMatchObject({ isMandatory: false });
    expect(await patched(made.id, { isDraft: true, isMandatory: true })).toMatchObject({
      isMandatory: false,
    });
    expect(await patched(made.id, { isDraft: false, isMandatory: true })).toMatchObject({
      isDraft: false,
      isMandatory: true,
    });
  });

  test('publishing dates the release, no other change does', async () => {
    const made = await makeRelease(server, { isDraft: true });
    server.clock.advance(minutes(5));
    expect((await patched(made.id, { releaseNotes: 'a' })).releaseDate).toBe(made.releaseDate);
    const published = await patched(made.id, { isDraft: false });
    expect(published.releaseDate).toBe(server.clock.now().toISOString());
    server.clock.advance(minutes(5));
    expect((await patched(made.id, { isDraft: false })).releaseDate).toBe(published.releaseDate);
    expect((await auditOf(server, made.id)).map((e) => e.event_type)).toEqual([
      'release.created',
      'release.updated',
      'release.published',
    ]);
  });

  test('may publish and roll out in one step, by the rules of the rollout call', async () => {
    const made = await makeRelease(server, { isDraft: true });
    const refused = await patch(made.id, { rolloutPercentage: 5 });
    expect([refused.status, refused.body.code, refused.body.error]).toEqual([
      409,
      'WRONG_STATE',
      'Rollout configuration is disabled for draft releases. Publish the release first to configure rollout settings.',
    ]);
    expect((await patched(made.id, { rolloutPercentage: 100 })).rolloutPercentage).toBe(100);
    const published = await patched(made.id, { isDraft: false, rolloutPercentage: 5 });
    expect(published).toMatchObject({ isDraft: false, rolloutPercentage: 5 });
    expect((await auditOf(server, made.id)).at(-1)).toMatchObject({
      event_type: 'release.published',
      changes_summary: `${made.version} for Windows x64 (stable): published at 5 %`,
    });
    expect((await patch(made.id, { isDraft: true, rolloutPercentage: 6 })).status).toBe(409);
    expect(await get(made.id)).toEqual(published);
  });

  test('tells an update and the rollout that came with it in one entry', async () => {
    const made = await makeRelease(server);
    await patched(made.id, { isActive: false });
    const plan = [
      { percentage: 1, hours: 24 },
      { percentage: 100, hours: null },
    ];
    const told = async () => (await auditOf(server, made.id)).at(-1)?.changes_summary;
    const name = `${made.version} for Windows x64 (stable)`;
    await patched(made.id, { isActive: true, rolloutPercentage: 5 });
    expect(await told()).toBe(`${name}: isActive: false → true; rollout at 100 % → at 5 %`);
    await patched(made.id, { rolloutPlan: plan });
    expect(await told()).toBe(`${name}: rollout at 5 % → with the plan 1 % for 24 h, 100 %`);
  });

  test('writes one entry for one change, and none for what is so already', async () => {
    const made = await makeRelease(server);
    const rolled = await patched(made.id, { rolloutPercentage: 5, isDraft: false });
    expect(await patched(made.id, { rolloutPercentage: 5, isActive: true })).toEqual(rolled);
    const draft = await makeRelease(server, { isDraft: true });
    expect(await patched(draft.id, { isMandatory: true })).toEqual(draft);
    expect((await auditOf(server, draft.id)).length).toBe(1);
    const [, entry, ...others] = await auditOf(server, made.id);
    expect([entry!.event_type, entry!.changes_summary, others]).toEqual([
      'release.updated',
      `${made.version} for Windows x64 (stable): rollout at 100 % → at 5 %`,
      [],
    ]);
    const admin = server.api(await server.signInAs('super_admin'));
    const { entries } = await admin.ok(auditCalls.list, { query: { search: made.version } });
    expect(entries.map((found) => found.event_type)).toContain('release.updated');
  });

  test('may not roll out without the permission of the rollout call', async () => {
    const made = await makeRelease(server);
    const session = await server.signInAs('license_manager');
    await server.db
      .insertInto('role_permissions')
      .values({ role_id: 'license_manager', resource: 'releases', action: 'update' })
      .execute();
    server.context.signals.drop('sessions');
    const as = server.api(session);
    const send = (body: object) => as.call(calls.update, { params: { releaseId: made.id }, body });
    const answer = await send({ rolloutPercentage: 5, releaseNotes: 'lost' });
    expect([answer.status, answer.body.error]).toEqual([
      403,
      'You lack the permission rollouts:create or rollouts:update.',
    ]);
    expect(await get(made.id)).toEqual(made);
    expect((await send({ rolloutPercentage: 100, releaseNotes: 'kept' })).status).toBe(200);
  });

  test('that someone else changed meanwhile is refused with both versions', async () => {
    const made = await makeRelease(server);
    const theirs = await patched(made.id, { releaseNotes: 'theirs', updatedAt: made.updatedAt });
    const mine = await patch(made.id, { releaseNotes: 'mine', updatedAt: made.updatedAt });
    expect([mine.status, mine.body.code, mine.body.error]).toEqual([
      409,
      'EDIT_CONFLICT',
      'This release was changed by someone else while you were editing it.',
    ]);
    expect(mine.body.details[0]).toMatchObject({ path: 'releaseNotes', current: 'theirs', yours: 'mine' });
    const byHeader = await api.call(
      calls.update,
      { params: { releaseId: made.id }, body: { releaseNotes: 'mine' } },
      { 'if-match': `"${made.updatedAt}"` },
    );
    expect(byHeader.status).toBe(409);
    const both = await Promise.all(
      [1, 2, 3].map((n) => patch(made.id, { releaseNotes: `${n}`, updatedAt: theirs.updatedAt })),
    );
    expect(both.map((a) => a.status).toSorted()).toEqual([200, 409, 409]);
  });

  test('into the identity of another is refused, and nothing is changed', async () => {
    const stable = await makeRelease(server, { version: '4.0.0' });
    const beta = await makeRelease(server, { version: '4.0.0', channel: 'beta' });
    const answer = await patch(beta.id, { channel: 'stable', releaseNotes: 'lost' });
    expect([answer.status, answer.body.code, answer.body.error]).toEqual([
      409,
      'ALREADY_EXISTS',
      'There is already 4.0.0 for Windows x64 (stable) with a file of this kind (.exe).',
    ]);
    expect(await get(beta.id)).toEqual(beta);
    await api.ok(calls.softDelete, { params: { releaseId: stable.id }, body: { reason: 'x' } });
    expect(await patched(beta.id, { channel: 'stable' })).toMatchObject({ channel: 'stable' });
  });

  test.each([
    ['minimumAppVersion: Invalid semantic version: 1.0', { minimumAppVersion: '1.0' }],
    ['channel: ', { channel: 'nightly' }],
    ['isDraft: ', { isDraft: 'yes' }],
    ['releaseNotes: Must be at most 20,000 characters', { releaseNotes: 'x'.repeat(20_001) }],
    ['acceptableFailures: Must be a number from 0.1 to 50', { acceptableFailures: 0 }],
    ['acceptableFailures: Must be a number from 0.1 to 50', { acceptableFailures: 50.1 }],
    ['version: Unknown field', { version: '2.0.0' }],
    ['rolloutPercentage: Must be a whole number from 0 to 100', { rolloutPercentage: 5.5 }],
  ])('refuses what is wrong: %s', async (sentence, body) => {
    const made = await makeRelease(server);
    const answer = await patch(made.id, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(sentence);
    expect(await get(made.id)).toEqual(made);
  });

  test('that is not there is not found', async () => {
    expect((await patch(nowhere.releaseId, { isActive: false })).status).toBe(404);
  });
});
