import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { releases as calls, type Release } from '../../../contract/releases.ts';
import type { Channel } from '../../../contract/versions.ts';
import { askFeed, makeRelease } from '../../../tests/factories.ts';
import { auditOf, minutes, startTestServer, type Api } from '../../../tests/harness.ts';
import { releaseRow } from '../../../tests/rows.ts';
import { systemChange } from '../../change.ts';
import { isFailure } from '../../failure.ts';
import { pauseRollout } from './rollout.ts';

const server = await startTestServer();
const api = server.api(await server.signInAs('binary_manager'));

const nowhere = '01920000-0000-7000-8000-000000000000';
const rollout = (releaseId: string, percentage: number, as: Api = api) =>
  as.call(calls.rollout, { params: { releaseId }, body: { percentage } });
const withdraw = (releaseId: string, reason = 'It crashes') =>
  api.call(calls.withdraw, { params: { releaseId }, body: { reason } });
const resume = (releaseId: string, updatedAt?: string) =>
  api.call(calls.resume, {
    params: { releaseId },
    ...(updatedAt !== undefined && { query: { updatedAt } }),
  });
const get = (releaseId: string) => api.ok(calls.get, { params: { releaseId } });
const setActive = (releaseId: string, isActive: boolean) =>
  api.ok(calls.update, { params: { releaseId }, body: { isActive } });
const pauseByHand = (releaseId: string, reason = 'A hospital reports crashes', as: Api = api) =>
  as.call(calls.pause, { params: { releaseId }, body: { reason } });
/** As the failure guard does it. */
const pause = async (release: Release, reason = '6 of 60 installs failed') =>
  !isFailure(
    await systemChange(server.context, server.clock.now(), (change) =>
      pauseRollout(change, release.id, reason),
    ),
  );

describe('the rollout of a release', () => {
  test.each([0, 5, 99, 100])('can be %d %%', async (percentage) => {
    const made = await makeRelease(server, { rolloutPercentage: 50 });
    const answer = await rollout(made.id, percentage);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.data).toMatchObject({ id: made.id, rolloutPercentage: percentage });
    expect(await get(made.id)).toEqual(answer.body.data);
    const entry = (await auditOf(server, made.id)).at(-1)!;
    expect(entry.event_type).toBe('release.rollout_changed');
    expect(entry.changes_summary).toBe(
      `${made.version} for Windows x64 (stable): rollout 50 % → ${percentage} %`,
    );
    expect(entry.before).toMatchObject({ rolloutPercentage: 50 });
    expect(entry.after).toMatchObject({ rolloutPercentage: percentage });
  });

  test('is disabled for a draft, in the words of the spec', async () => {
    const made = await makeRelease(server, { isDraft: true });
    const answer = await rollout(made.id, 5);
    expect([answer.status, answer.body.code, answer.body.error]).toEqual([
      409,
      'WRONG_STATE',
      'Rollout configuration is disabled for draft releases. Publish the release first to configure rollout settings.',
    ]);
  });

  test('of nothing, or of what is in the bin, is not found', async () => {
    const made = await makeRelease(server);
    await api.ok(calls.softDelete, { params: { releaseId: made.id }, body: { reason: 'x' } });
    for (const id of [nowhere, made.id]) {
      expect((await rollout(id, 5)).status).toBe(404);
      expect((await resume(id)).status).toBe(404);
      expect((await withdraw(id)).status).toBe(404);
    }
  });
});

describe('a rollout that was paused', () => {
  test('says why, stays paused when the percentage changes, and goes on when resumed', async () => {
    const made = await makeRelease(server, { rolloutPercentage: 20 });
    expect(await pause(made)).toBe(true);
    expect(await get(made.id)).toMatchObject({
      pausedAt: server.clock.now().toISOString(),
      pauseReason: '6 of 60 installs failed',
      pausedBy: null,
    });
    const { updatedAt } = await get(made.id);
    const widened = (await rollout(made.id, 30)).body.data;
    expect(widened.pausedAt).not.toBeNull();
    server.clock.advance(minutes(1));
    const unseen = await resume(made.id, updatedAt);
    expect([unseen.status, unseen.body.error]).toEqual([
      409,
      'This release was changed since you saw it. Look at it again.',
    ]);
    const resumed = await resume(made.id, widened.updatedAt);
    expect(resumed.status, resumed.text).toBe(200);
    expect(resumed.body.data).toMatchObject({ pausedAt: null, pauseReason: null, rolloutPercentage: 30 });
    expect((await releaseRow(server, made)).failures_from).toEqual(server.clock.now());
    // a pause by hand and its end leave what the guard has counted
    const since = server.clock.now();
    const other = await makeRelease(server);
    server.clock.advance(minutes(1));
    await pauseByHand(other.id, 'x');
    await resume(other.id);
    expect((await releaseRow(server, other)).failures_from).toEqual(since);
    const entries = await auditOf(server, made.id);
    expect(entries.map((e) => [e.event_type, e.user_email?.split('-')[0]])).toEqual([
      ['release.created', 'system'],
      ['release.rollout_paused', 'system'],
      ['release.rollout_changed', 'binary_manager'],
      ['release.rollout_resumed', 'binary_manager'],
    ]);
    expect(entries[1]!.changes_summary).toContain('6 of 60 installs failed');
  });

  test('by hand keeps its percentage, says who and why, and no feed offers it until it is resumed', async () => {
    const made = await makeRelease(server, { version: '9.5.0', rolloutPercentage: 100 });
    const who = await server.signInAs('binary_manager');
    const paused = await pauseByHand(made.id, 'Two sites report crashes', server.api(who));
    expect(paused.status, paused.text).toBe(200);
    expect(paused.body.data).toMatchObject({
      rolloutPercentage: 100,
      pausedAt: server.clock.now().toISOString(),
      pauseReason: 'Two sites report crashes',
      pausedBy: who.email,
    });
    const entry = (await auditOf(server, made.id)).at(-1)!;
    expect([entry.event_type, entry.user_email, entry.changes_summary]).toEqual([
      'release.rollout_paused',
      who.email,
      '9.5.0 for Windows x64 (stable): rollout paused at 100 %: Two sites report crashes',
    ]);
    const ask = () => askFeed(api, { 'x-app-version': '9.4.0' });
    const asked = await ask();
    expect(asked.text).not.toContain('9.5.0');
    expect(asked.headers.get('x-update-reason')).toBe('PAUSED');
    expect((await resume(made.id)).body.data).toMatchObject({
      rolloutPercentage: 100,
      pausedAt: null,
      pauseReason: null,
      pausedBy: null,
    });
    expect((await ask()).text).toContain('9.5.0');
  });

  test('by hand is refused with the reason, and to those who may not manage rollouts', async () => {
    const made = await makeRelease(server);
    expect((await pauseByHand(made.id, ' ')).body.error).toBe('reason: Reason is required');
    const viewer = server.api(await server.signInAs('viewer'));
    expect((await pauseByHand(made.id, 'x', viewer)).status).toBe(403);
    const both = await Promise.all([pauseByHand(made.id), pauseByHand(made.id)]);
    expect(both.map((a) => a.status).toSorted()).toEqual([200, 409]);
    expect((await pauseByHand(made.id)).body.error).toBe('The rollout is already paused.');
    const draft = await makeRelease(server, { isDraft: true });
    expect((await pauseByHand(draft.id)).body.error).toBe('A draft is in no feed.');
    await setActive(made.id, false);
    expect((await pauseByHand(made.id)).body.error).toBe('An inactive release is in no feed.');
    expect((await pauseByHand(nowhere)).status).toBe(404);
  });

  test('is paused once, however many notice', async () => {
    const made = await makeRelease(server);
    const outcomes = await Promise.all([1, 2, 3, 4, 5].map((n) => pause(made, `${n}`)));
    expect(outcomes.filter(Boolean)).toHaveLength(1);
    expect((await auditOf(server, made.id)).length).toBe(2);
  });

  test('cannot be resumed when it is not paused', async () => {
    const made = await makeRelease(server);
    const answer = await resume(made.id);
    expect([answer.status, answer.body.error]).toEqual([409, 'The rollout is not paused.']);
  });

  test('cannot be resumed once the release is withdrawn, before it is active again', async () => {
    const made = await makeRelease(server);
    await pauseByHand(made.id, 'It crashes');
    await withdraw(made.id);
    const answer = await resume(made.id);
    expect([answer.status, answer.body.error]).toEqual([
      409,
      'An inactive release is in no feed. Make it active, then resume it.',
    ]);
    await setActive(made.id, true);
    expect((await resume(made.id)).status).toBe(200);
  });

  test('is not paused where there is none', async () => {
    const draft = await makeRelease(server, { isDraft: true });
    const inactive = await makeRelease(server);
    await setActive(inactive.id, false);
    const trashed = await makeRelease(server);
    await api.ok(calls.softDelete, { params: { releaseId: trashed.id }, body: { reason: 'x' } });
    for (const release of [draft, inactive, trashed]) expect(await pause(release)).toBe(false);
  });
});

describe('the reach of a release', () => {
  test('counts the machines that it would be offered to if it were fully out', async () => {
    const line = { platform: 'linux', architecture: 'arm64' } as const;
    const machines = (count: number, name: string, facts: Partial<Facts>) =>
      insertMachines(count, { ...line, last_version: '1.0.0', ...facts }, `reach ${name}`);
    await machines(7, 'stable', {});
    await machines(5, 'beta', { channel: 'beta' });
    await machines(3, 'old', { last_version: '0.8.0' });
    await machines(2, 'unknown', { last_version: null });
    await machines(11, 'newer', { last_version: '2.0.1' });
    await machines(13, 'same', { last_version: '2.0.0' });
    await machines(17, 'other', { architecture: 'x64' });
    const asked = (fields: object = {}) =>
      api.ok(calls.reach, { query: { ...line, version: '2.0.0', channel: 'stable', ...fields } });
    const reach = async (fields: object) => (await asked(fields)).machines;
    const alone = { newer: [], below: 0, hides: [], hiddenBy: null };
    expect(await asked()).toEqual({ ...alone, machines: 7 + 5 + 3 + 2, running: 13 });
    expect(await reach({ channel: 'beta' })).toBe(5);
    expect(await reach({ channel: 'alpha' })).toBe(0);
    expect(await asked({ minimumAppVersion: '0.9.0' })).toMatchObject({ machines: 7 + 5 + 2, below: 3 });
    expect(await asked({ minimumAppVersion: '2.0.0' })).toMatchObject({ machines: 2, below: 7 + 5 + 3 });
    expect(await reach({ platform: 'darwin' })).toBe(0);
  });

  test('leaves out those that are offered a newer release instead, and names what hides what', async () => {
    const line = { platform: 'darwin', architecture: 'ia32' } as const;
    const machines = (count: number, name: string, last_version: string | null) =>
      insertMachines(count, { ...line, last_version }, `newer ${name}`);
    await machines(7, 'old', '0.9.0');
    await machines(5, 'young', '1.5.0');
    const asked = (fields: object = {}) =>
      api.ok(calls.reach, {
        query: { ...line, version: '2.0.0', channel: 'stable', fileKind: 'zip', ...fields },
      });
    const publish = (version: string, rolloutPercentage: number, fields: object = {}) =>
      makeRelease(server, {
        ...line,
        version,
        rolloutPercentage,
        fileKind: 'zip',
        fileName: 'App.zip',
        ...fields,
      });
    const own = await publish('2.0.0', 1);
    const next = await publish('3.0.0', 20);
    expect(await asked()).toMatchObject({
      machines: 12,
      hides: [],
      hiddenBy: { id: next.id, version: '3.0.0', rolloutPercentage: 20 },
    });
    expect(await asked({ version: '4.0.0' })).toMatchObject({
      machines: 12,
      hides: [{ id: next.id, version: '3.0.0', rolloutPercentage: 20 }],
      hiddenBy: null,
    });
    const impactOf = (releaseId: string) => api.ok(calls.impact, { params: { releaseId } });
    expect(await impactOf(own.id)).toMatchObject({ hiddenBy: { id: next.id }, hides: [] });
    const paused = { params: { releaseId: next.id } };
    await api.ok(calls.pause, { ...paused, body: { reason: 'A hospital called' } });
    expect(await impactOf(own.id)).toMatchObject({ hiddenBy: null, hides: [] });
    expect(await impactOf(next.id)).toMatchObject({ hiddenBy: null, hides: [{ id: own.id }] });
    await api.ok(calls.softDelete, { ...paused, body: { reason: 'x' } });
    expect(await impactOf(next.id)).toMatchObject({ hides: [{ id: own.id }] });
    await publish('2.1.0', 100, { minimumAppVersion: '1.0.0' });
    expect(await asked()).toMatchObject({ machines: 7, newer: [{ machines: 5, version: '2.1.0' }] });
    await publish('2.2.0', 100);
    expect(await asked()).toMatchObject({ machines: 0, newer: [{ machines: 12, version: '2.2.0' }] });
    expect(await impactOf(own.id)).toMatchObject({ newer: '2.2.0', hiddenBy: null });
    expect(await asked({ fileKind: 'dmg' })).toMatchObject({ machines: 12, newer: [] });
    await publish('5.0.0', 100, { channel: 'beta' });
    await insertMachines(3, { ...line, last_version: '0.9.0', channel: 'beta' }, 'newer beta');
    const ofBeta = { machines: 3, version: '5.0.0' };
    expect(await asked({ version: '4.0.0' })).toMatchObject({ machines: 12, newer: [ofBeta] });
    expect(await asked()).toMatchObject({
      machines: 0,
      newer: [ofBeta, { machines: 12, version: '2.2.0' }],
    });
  });

  test('names no rollout as hiding another where a full release replaces it', async () => {
    const line = { platform: 'linux', architecture: 'ia32', fileKind: 'deb', fileName: 'app.deb' } as const;
    const older = await makeRelease(server, { ...line, version: '4.0.5', rolloutPercentage: 10 });
    const newer = { ...line, minimumAppVersion: '4.0.0' };
    const replaced = await makeRelease(server, { ...newer, version: '5.0.0', rolloutPercentage: 20 });
    const impactOf = ({ id }: Release) => api.ok(calls.impact, { params: { releaseId: id } });
    expect(await impactOf(older)).toMatchObject({ hiddenBy: { id: replaced.id } });
    expect(await impactOf(replaced)).toMatchObject({ hides: [{ id: older.id }] });
    await makeRelease(server, { ...newer, version: '5.1.0' });
    // of the machines below 4.0.0, its rollout is for some as before
    expect(await impactOf(older)).toMatchObject({ newer: null, hiddenBy: null });
    expect(await impactOf(replaced)).toMatchObject({ newer: '5.1.0', hides: [] });
  });
});

describe('withdrawing a release', () => {
  test('makes it inactive at once and names the machines that run it, the last seen first', async () => {
    const made = await makeRelease(server, { version: '8.0.0', architecture: 'arm64' });
    await insertMachines(203, { last_version: '8.0.0', platform: 'win32', architecture: 'arm64' }, 'on');
    await insertMachines(3, { last_version: '8.0.0', platform: 'win32', architecture: 'x64' }, 'x64');
    await insertMachines(3, { last_version: '8.0.1', platform: 'win32', architecture: 'arm64' }, 'other');
    await insertMachines(3, { last_version: '8.0.0', platform: 'darwin', architecture: 'arm64' }, 'mac');
    const answer = await withdraw(made.id, 'It crashes');
    expect(answer.status, answer.text).toBe(200);
    const { release, affectedMachines, affectedTotal } = answer.body.data;
    expect(release).toMatchObject({ id: made.id, isActive: false, isDraft: false });
    expect(affectedTotal).toBe(203);
    expect(affectedMachines).toHaveLength(200);
    expect(affectedMachines[0]!.displayId).toBe('on-203');
    expect(affectedMachines.at(-1)!.displayId).toBe('on-4');
    expect(await get(made.id)).toEqual(release);
    const entry = (await auditOf(server, made.id)).at(-1)!;
    expect(entry.event_type).toBe('release.withdrawn');
    expect(entry.changes_summary).toBe(
      '8.0.0 for Windows arm64 (stable): withdrawn, while 203 machines run it: It crashes',
    );
  });

  test('is refused for a draft, for what is inactive, and without a reason', async () => {
    const draft = await makeRelease(server, { isDraft: true });
    const answer = await withdraw(draft.id);
    expect([answer.status, answer.body.error]).toEqual([409, 'A draft is in no feed.']);
    const made = await makeRelease(server);
    expect((await withdraw(made.id, '  ')).body.error).toBe('reason: Reason is required');
    const both = await Promise.all([withdraw(made.id), withdraw(made.id)]);
    expect(both.map((a) => a.status).toSorted()).toEqual([200, 409]);
    expect((await withdraw(made.id)).body.error).toBe('The release is already inactive.');
    expect((await setActive(made.id, true)).isActive).toBe(true);
  });
});

type Facts = { last_version: string | null; platform: string; architecture: string; channel?: Channel };

async function insertMachines(count: number, facts: Facts, name: string): Promise<void> {
  const start = server.clock.now().getTime();
  const rows = Array.from({ length: count }, (_, n) => ({
    machine_hash: createHash('sha256').update(`${name}-${n}`).digest(),
    display_id: `${name}-${n + 1}`,
    channel: null,
    os_version: null,
    app_version: null,
    first_seen: new Date(start),
    last_seen: new Date(start + n * 1000),
    last_check_day: null,
    notes: null,
    ...facts,
  }));
  await server.db.insertInto('machines').values(rows).execute();
}
