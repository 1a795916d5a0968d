import { sql } from 'kysely';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { audit } from '../../../contract/audit.ts';
import { noPolicy, policies, type UpdatePolicy } from '../../../contract/policies.ts';
import { releases as calls } from '../../../contract/releases.ts';
import { rollouts, type MachineGroup } from '../../../contract/rollouts.ts';
import { updates } from '../../../contract/updates.ts';
import {
  askFeed,
  makeApiKey,
  makeCustomer,
  makeLicense,
  makeRelease,
  reportEvents,
  validateOn,
  type Told,
} from '../../../tests/factories.ts';
import { eventually, minutes, startTestServer, type Api } from '../../../tests/harness.ts';
import { keepDueAffected } from '../releases/index.ts';
import { othersIn } from '../../../tests/rows.ts';

const server = await startTestServer();
const admin = server.api(await server.signInAs('super_admin'));
const manager = server.api(await server.signInAs('binary_manager'));
const key = await makeApiKey(admin, { scopes: ['updates', 'validate'] });
const desktop = server.api(key);

const check = async (machineId: string, version: string) =>
  askFeed(desktop, { 'x-app-version': version, 'x-machine-id': machineId });
const report = (events: Told[]) => reportEvents(desktop, events);
const at = ({ id }: { id: string }) => ({ params: { releaseId: id } });
const progress = (release: { id: string }) => manager.ok(rollouts.progress, at(release));
const listed = (release: { id: string }, group: MachineGroup, search?: string, as: Api = manager) =>
  as.ok(rollouts.machines, { ...at(release), query: { group, ...(search && { search }) } });

const release = await makeRelease(server, { version: '5.1.0' });
const customer = await makeCustomer(admin, { name: 'Clinic "Ost", =1+1' });
const license = await makeLicense(admin, { customerId: customer.customerId });
await validateOn(desktop, license, 'good');
for (const machine of ['good', 'bad', 'undone', 'waiting']) await check(machine, '5.0.0');
const took = { toVersion: '5.1.0', fromVersion: '5.0.0', releaseId: release.id };
await report([
  { ...took, machineId: 'good', eventType: 'install_complete' },
  { ...took, machineId: 'good 2', eventType: 'install_complete', fromVersion: '4.9.0' },
  { ...took, machineId: 'bad', eventType: 'install_error', errorCode: 'EACCES' },
  { ...took, machineId: 'undone', eventType: 'install_complete' },
  {
    machineId: 'undone',
    eventType: 'rollback',
    fromVersion: '5.1.0',
    toVersion: '5.0.0',
    releaseId: release.id,
  },
]);
await eventually(async () => {
  // counted by queries of their own: each may be a moment older than the other
  const { figures, failures, adoption, fromVersions } = await progress(release);
  const areFigures = figures.offered === 4 && figures.rolledBack === 1 && figures.running === 2;
  return areFigures && failures.length === 2 && fromVersions.length === 2 && adoption[0]?.failed === 2;
});

test('a release says what became of it on the machines', async () => {
  const { figures, adoption, failures, fromVersions, affected, guard } = await progress(release);
  expect(figures).toEqual({
    eligible: 5,
    held: 0,
    running: 2,
    offered: 4,
    fetched: 0,
    installed: 2,
    failed: 2,
    rolledBack: 1,
  });
  expect(adoption).toEqual([{ date: '2026-11-20', installed: 2, failed: 2 }]);
  expect(await listed(release, 'failed')).toHaveLength(figures.failed);
  const [bad] = await listed(release, 'failed', 'bad');
  expect(failures).toContainEqual({ code: 'EACCES', machines: 1, latest: [bad!.displayId] });
  expect(failures).toHaveLength(2);
  expect(fromVersions).toEqual([
    { version: '5.0.0', machines: 1 },
    { version: '4.9.0', machines: 1 },
  ]);
  expect([affected, guard.verdict]).toEqual([null, 'QUIET']);
});

test('the list has the same in short, for several releases at once', async () => {
  const draft = await makeRelease(server, { version: '5.0.1', isDraft: true });
  const strips = await manager.ok(rollouts.summaries, { query: { ids: `${release.id},${draft.id}` } });
  expect(strips).toHaveLength(2);
  const shown = { held: 0, hiddenBy: null };
  expect(strips).toContainEqual({ ...shown, releaseId: release.id, running: 2, eligible: 5, failed: 2 });
  expect(strips).toContainEqual({ ...shown, releaseId: draft.id, running: 0, eligible: 3, failed: 0 });
});

test('a release names the full one that machines are offered instead, while that is offered', async () => {
  const line = { platform: 'linux', fileKind: 'appimage', fileName: 'App.AppImage' } as const;
  const older = await makeRelease(server, { ...line, version: '8.1.0' });
  const newer = await makeRelease(server, { ...line, version: '8.2.0' });
  expect(await progress(older)).toMatchObject({ newer: '8.2.0', hiddenBy: null });
  expect(await progress(newer)).toMatchObject({ newer: null });
  await manager.ok(calls.pause, { ...at(newer), body: { reason: 'A hospital called' } });
  expect(await progress(older)).toMatchObject({ newer: null });
});

test('a draft that nobody was offered has a page of zeros', async () => {
  const draft = await makeRelease(server, { version: '7.0.0', isDraft: true, architecture: 'arm64' });
  const { figures, adoption, failures, fromVersions } = await progress(draft);
  expect(Object.values(figures)).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
  expect([adoption, failures, fromVersions]).toEqual([[], [], []]);
  expect(await listed(draft, 'running')).toEqual([]);
});

test('a release whose file no updater takes is offered to no machine', async () => {
  const eligible = async (file: object) =>
    (await progress(await makeRelease(server, { version: '6.0.0', isDraft: true, ...file }))).figures
      .eligible;
  expect(await eligible({ fileKind: 'nupkg', fileName: 'A-full.nupkg', sha1: 'a'.repeat(40) })).toBe(5);
  expect(await eligible({ fileKind: 'nupkg', fileName: 'B-full.nupkg', sha1: null, channel: 'beta' })).toBe(
    0,
  );
  expect(await eligible({ fileKind: 'dmg', fileName: 'A.dmg' })).toBe(0);
});

test('its machines are searched, and name their customers to those who may read them', async () => {
  expect((await listed(release, 'running')).map((m) => m.runs)).toEqual(['5.1.0', '5.1.0']);
  const [good] = await listed(release, 'running', 'good', admin);
  expect(good).toMatchObject({
    customers: [{ name: 'Clinic "Ost", =1+1' }],
    movedOn: false,
    failureCode: null,
  });
  expect((await listed(release, 'running', 'good'))[0]!.customers).toBeNull();
  expect(await listed(release, 'running', 'nowhere')).toEqual([]);
  const csv = await admin.call(rollouts.machinesCsv, { ...at(release), query: { group: 'running' } });
  expect(csv.headers.get('content-disposition')).toBe('attachment; filename="machines-5.1.0-running.csv"');
  expect(csv.text.trim().split('\n')).toHaveLength(3);
  expect(csv.text).toContain('Clinic ""Ost"", =1+1');
  const { entries } = await admin.ok(audit.list, { query: { eventType: 'machine.exported', limit: '1' } });
  expect(entries[0]?.changes_summary).toContain('exported those of 5.1.0 (running) as CSV');
  const without = await manager.call(rollouts.machinesCsv, { ...at(release), query: {} });
  expect(without.text).not.toContain('Clinic');
  expect(without.text).not.toContain('Customers');
});

test('a machine whose install failed has neither installed it nor moved on from it', async () => {
  const [bad] = await listed(release, 'failed', 'bad');
  expect(bad).toMatchObject({ runs: '5.0.0', movedOn: false, installedAt: null, failureCode: 'EACCES' });
  expect(bad?.failedAt).toMatch(/^2026-11-20T/);
  expect((await listed(release, 'running', 'good'))[0]).toMatchObject({ failedAt: null, movedOn: false });
  const csv = async (group: MachineGroup) => {
    const { text } = await manager.call(rollouts.machinesCsv, { ...at(release), query: { group } });
    return text.replace(/^\uFEFF/, '').split(/\r?\n/)[0];
  };
  expect(await csv('running')).toBe('Machine,Runs,Last Seen,Installed');
  expect(await csv('failed')).toBe('Machine,Runs,Last Seen,Failed,Failure');
  expect(await csv('affected')).toBe('Machine,Runs,Moved On,Last Seen,Installed');
});

test('everything that was done to it is listed, also for who may not read the audit log', async () => {
  await manager.ok(calls.rollout, { ...at(release), body: { percentage: 50 } });
  const history = await manager.ok(rollouts.history, at(release));
  expect(history.map(({ event, what }) => [event, what])).toEqual([
    ['release.rollout_changed', 'rollout 100 % → 50 %'],
    ['release.created', 'created at 100 %'],
  ]);
});

test('a withdrawn release keeps who had it, and who has moved on since', async () => {
  server.clock.advance(minutes(6));
  await validateOn(desktop, license, 'good');
  const lastSeen = server.clock.now().toISOString();
  await eventually(async () => (await listed(release, 'running'))[0]?.lastSeen === lastSeen);
  const answer = await manager.ok(calls.withdraw, { ...at(release), body: { reason: 'It crashes' } });
  expect(answer.affectedMachines[0]?.lastSeen).toBe(lastSeen);
  const withdrawnAt = server.clock.now().toISOString();
  expect((await progress(release)).affected).toEqual({ machines: 2, movedOn: 0, withdrawnAt });
  await report([
    { machineId: 'good', eventType: 'install_complete', fromVersion: '5.1.0', toVersion: '5.2.0' },
  ]);
  await eventually(async () => (await progress(release)).affected?.movedOn === 1);
  const affected = await listed(release, 'affected', undefined, admin);
  expect(affected.map(({ runs, movedOn }) => [runs, movedOn]).toSorted()).toEqual([
    ['5.1.0', false],
    ['5.2.0', true],
  ]);
  expect(affected.flatMap(({ customers }) => customers!.map(({ name }) => name))).toEqual([
    'Clinic "Ost", =1+1',
  ]);
  const other = await makeRelease(server, { version: '5.8.7' });
  const others = await othersIn(server, 'withdrawn_machines', 'release_id', other.id);
  await manager.ok(calls.withdraw, { ...at(other), body: { reason: 'Also' } });
  expect(await othersIn(server, 'withdrawn_machines', 'release_id', other.id)).toEqual(others);
  await manager.ok(calls.update, { ...at(release), body: { isActive: true } });
  await manager.ok(calls.withdraw, { ...at(release), body: { reason: 'Again' } });
  expect((await progress(release)).affected).toMatchObject({ machines: 1, movedOn: 0 });
});

test('a release with build metadata is run by machines that report its version with or without it', async () => {
  const build = await makeRelease(server, { version: '5.3.0+2', architecture: 'arm64' });
  const ask = (machineId: string, version: string) =>
    desktop.call(
      updates.electron,
      { params: { platform: 'win32', architecture: 'arm64', file: 'latest.yml' } },
      { 'x-app-version': version, 'x-machine-id': machineId },
    );
  await ask('exact', '5.3.0+2');
  await ask('plain', '5.3.0');
  await ask('other', '5.3.0+1');
  await eventually(async () => (await listed(build, 'running')).length === 2);
  // an earlier count is kept for a while
  await eventually(async () => (await progress(build)).figures.running === 2);
  const line = { platform: 'win32', architecture: 'arm64', version: '5.3.0+2', channel: 'stable' } as const;
  expect(await manager.ok(calls.reach, { query: line })).toMatchObject({ machines: 0, running: 2 });
  const { affectedTotal } = await manager.ok(calls.withdraw, {
    ...at(build),
    body: { reason: 'It crashes' },
  });
  expect(affectedTotal).toBe(2);
  await eventually(async () => (await progress(build)).affected?.machines === 2);
  expect((await progress(build)).affected).toMatchObject({ movedOn: 0 });
  const affected = await listed(build, 'affected');
  expect(affected.map(({ runs, movedOn }) => [runs, movedOn]).toSorted()).toEqual([
    ['5.3.0+2', false],
    ['5.3.0', false],
  ]);
  await ask('plain', '5.3.1');
  await eventually(async () => (await progress(build)).affected?.movedOn === 1);
});

test('a release is in no feed before the machines that had it are kept', async () => {
  const isActive = async () => (await manager.ok(calls.get, at(release))).isActive;
  await manager.ok(calls.update, { ...at(release), body: { isActive: true } });
  server.clock.advance(1000);
  const withdrawn = await server.db.transaction().execute(async (tx) => {
    await sql`lock table withdrawn_machines in exclusive mode`.execute(tx);
    const call = manager.ok(calls.withdraw, { ...at(release), body: { reason: 'Many had it' } });
    await eventually(async () => !(await isActive()));
    return { call };
  });
  await withdrawn.call;
  const withdrawnAt = server.clock.now().toISOString();
  expect((await progress(release)).affected).toMatchObject({ machines: 1, withdrawnAt });
});

test('machines that could not be kept when a release was withdrawn are kept later, as of then', async () => {
  await manager.ok(calls.update, { ...at(release), body: { isActive: true } });
  server.clock.advance(1000);
  const withdrawnAt = server.clock.now().toISOString();
  const { config } = server.context;
  const { databaseLimitFactor } = config;
  config.databaseLimitFactor = 1;
  await server.db.transaction().execute(async (tx) => {
    await sql`lock table withdrawn_machines in exclusive mode`.execute(tx);
    await manager.ok(calls.withdraw, { ...at(release), body: { reason: 'Many had it' } });
    expect((await progress(release)).affected).toBeNull();
    expect(await listed(release, 'affected')).toEqual([]);
  });
  config.databaseLimitFactor = databaseLimitFactor;
  server.clock.advance(1000);
  await server.db.transaction().execute(async (tx) => {
    // as the reports that are being written do
    await sql`select from releases where release_id = ${release.id} for key share`.execute(tx);
    await keepDueAffected(server.context);
  });
  expect((await progress(release)).affected).toMatchObject({ machines: 1, withdrawnAt });
});

test('of a release that is active again before they could be kept, none are', async () => {
  await manager.ok(calls.update, { ...at(release), body: { isActive: true } });
  await server.db
    .updateTable('releases')
    .set({ affected_due: server.clock.now() })
    .where('release_id', '=', release.id)
    .execute();
  await keepDueAffected(server.context);
  expect((await progress(release)).affected).toBeNull();
});

test('machines that an update policy keeps from it are counted apart, and those of a policy channel with it', async () => {
  const made = { platform: 'darwin', fileKind: 'zip', fileName: 'App.zip' } as const;
  const full = await makeRelease(server, { ...made, version: '6.1.0' });
  const beta = await makeRelease(server, {
    ...made,
    version: '6.2.0-beta.1',
    channel: 'beta',
    security: true,
  });
  const clinic = await makeCustomer(admin, {});
  const seats = await makeLicense(admin, { customerId: clinic.customerId, maxActivations: 9 });
  for (const machine of ['mac 1', 'mac 2', 'mac 3']) {
    if (machine !== 'mac 3') await validateOn(desktop, seats, machine);
    await desktop.call(
      updates.electron,
      { params: { platform: 'darwin', architecture: 'x64', file: 'latest-mac.yml' } },
      { 'x-app-version': '6.0.0', 'x-machine-id': machine },
    );
  }
  const counts = async () =>
    Promise.all(
      [full, beta].map(async (one) => {
        const { eligible, held } = (await progress(one)).figures;
        const [strip] = await manager.ok(rollouts.summaries, { query: { ids: one.id } });
        expect(strip).toMatchObject({ eligible, held });
        return [eligible, held];
      }),
    );
  await eventually(async () => (await counts())[0]![0] === 3);
  const policy = { tags: [], ...noPolicy };
  const set = async (fields: Partial<UpdatePolicy>, expected: number[][]) => {
    await admin.ok(policies.putOfCustomer, {
      params: { id: clinic.customerId },
      body: { ...policy, ...fields },
    });
    await eventually(async () => isDeepStrictEqual(await counts(), expected));
  };
  await set({ deferDays: 7 }, [
    [3, 2],
    [0, 0],
  ]);
  await set({ channel: 'beta', updatesUntil: '2026-01-01' }, [
    [3, 2],
    [2, 0],
  ]);
  await set({ channel: 'beta', pin: '6.1.', pinForSecurity: true }, [
    [3, 0],
    [2, 2],
  ]);
  // matches nothing, so it holds nothing back
  await set({ pin: '9.' }, [
    [3, 0],
    [0, 0],
  ]);
  await set({}, [
    [3, 0],
    [0, 0],
  ]);
});

test('a release in the bin or unknown has no page', async () => {
  const trashed = await makeRelease(server);
  await manager.ok(calls.softDelete, { ...at(trashed), body: { reason: 'x' } });
  for (const route of [rollouts.progress, rollouts.history, rollouts.machines, rollouts.machinesCsv])
    expect((await manager.call(route, at(trashed))).status).toBe(404);
});

test('a policy whose last day is no date of PostgreSQL, as older versions took one, stops no rollout', async () => {
  const policy = { ...noPolicy, updatesUntil: '0000-01-01' };
  const putTag = { params: { tag: 'older' }, body: { ...noPolicy, updatesUntil: '2026-01-01' } };
  await manager.ok(policies.putOfTag, putTag);
  await server.db
    .updateTable('update_policies')
    .set({ policy: JSON.stringify(policy) as never })
    .where('tag', '=', 'older')
    .execute();
  await makeCustomer(admin, { name: 'Clinic of older' }).then(({ customerId }) =>
    manager.ok(policies.putOfCustomer, {
      params: { id: customerId },
      body: { ...noPolicy, tags: ['older'] },
    }),
  );
  await progress(await makeRelease(server, { version: '5.9.0', rolloutPercentage: 5 }));
});
