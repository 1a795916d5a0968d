import { expect, test } from 'vitest';
import { apiKeys } from '../../../contract/api-keys.ts';
import { licenses } from '../../../contract/licenses.ts';
import { notices } from '../../../contract/notices.ts';
import { resourceActions, resources, roleMatrix, roleNames } from '../../../contract/permissions.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import { releases } from '../../../contract/releases.ts';
import { session } from '../../../contract/session.ts';
import { figures, todayKinds, type Figure, type TodayKind } from '../../../contract/today-needs.ts';
import { today as calls } from '../../../contract/today.ts';
import { asked, doing, pauseByGuard, requireApproval } from '../../../tests/approving.ts';
import { makeApiKey, makeLicense, makeRelease, validateOn } from '../../../tests/factories.ts';
import { days, eventually, hours, startTestServer } from '../../../tests/harness.ts';
import { issueTo, offlineMachine } from '../../../tests/offline-machine.ts';
import { planOf } from '../../../tests/plan-of.ts';

/** What each line and figure shows, in words of the roles table; `|`: either is enough. */
const secrets: Record<TodayKind | Figure, string> = {
  licensesEnding: 'licenses:read',
  licensesEnded: 'licenses:read',
  licensesFull: 'licenses:read',
  offlineEnding: 'licenses:read',
  releasesDamaged: 'releases:read',
  rolloutsFailing: 'releases:read',
  rolloutsClaimed: 'releases:read',
  rolloutsPaused: 'releases:read',
  rolloutsReady: 'releases:read',
  trashEnding: 'releases:read',
  storageDown: 'releases:read',
  // one to publish a release, which needs releases:update
  approvalsWaiting: 'rollouts:create|rollouts:update releases:update',
  keysLimited: 'api_keys:read',
  keysRefused: 'api_keys:read',
  keysEnding: 'api_keys:read',
  signInsRefused: 'audit:read',
  chainBroken: 'audit:read',
  chainNotKept: 'audit:read',
  clockJumped: 'audit:delete',
  diskFull: 'audit:delete',
  validations: 'analytics:read',
  refused: 'analytics:read',
  machines: 'analytics:read',
  checks: 'releases:read',
  downloads: 'releases:read',
  installs: 'releases:read',
  failedInstalls: 'releases:read',
};
const mayKnow = (what: TodayKind | Figure, held: readonly string[]) =>
  secrets[what].split(' ').every((ways) => ways.split('|').some((one) => held.includes(one)));

/** Which of the notices above every screen there are. */
const noticesIn = ({ paused, approvals, storageDown, clock }: RouteAnswer<typeof notices.list>) => ({
  rolloutsPaused: paused.length > 0,
  approvalsWaiting: approvals.length > 0,
  storageDown,
  clockJumped: clock !== null,
});

// the state of the chain and of the disk are not made here
const lit = todayKinds.filter((kind) => !['chainBroken', 'chainNotKept', 'diskFull'].includes(kind));

const server = await startTestServer();
const staff = server.api((await server.signInAs('super_admin')).byCookie);
const other = server.api((await server.signInAs('admin')).byCookie);
const clock = server.clock.now().getTime();
const at = (ms: number) => new Date(clock + ms).toISOString();

/** Something on every line. */
async function light() {
  const desktop = server.api(await makeApiKey(staff));
  const validFrom = '2026-01-01T00:00:00Z';
  await makeLicense(staff, { validFrom, validUntil: at(days(20)) });
  const ended = await makeLicense(staff, { validFrom, validUntil: at(-days(1)) });
  const full = await makeLicense(staff, { validFrom, maxActivations: 1 });
  await issueTo(staff, await makeLicense(staff), offlineMachine('offline'), 1);
  for (const [license, machine] of [
    [ended, 'm'],
    [full, 'm'],
    [full, 'n'],
  ] as const)
    await validateOn(desktop, license, machine);
  await server.db
    .updateTable('activations')
    .set({ offline_until: new Date(clock + days(5)) })
    .where('activation_type', '=', 'offline')
    .execute();
  const refused = await makeApiKey(staff, { expiresAt: at(days(3)), rateLimit: 1 });
  await validateOn(server.api(refused), full, 'm');
  await staff.ok(apiKeys.update, { params: { keyId: refused.id }, body: { ipWhitelist: ['192.0.2.1'] } });
  await server.api(refused).call(licenses.list);
  for (let n = 0; n < 11; n++)
    await server.api().call(session.login, { body: { email: `n${n}@lanyard.test`, password: 'wrong' } });
  const [damaged, failing, paused, trashed, claimed] = [
    await makeRelease(server),
    await makeRelease(server),
    await makeRelease(server),
    await makeRelease(server),
    await makeRelease(server),
  ];
  await pauseByGuard(server, failing);
  const reason = 'Crashes';
  await staff.ok(releases.pause, { params: { releaseId: paused.id }, body: { reason } });
  await staff.ok(releases.softDelete, { params: { releaseId: trashed.id }, body: { reason } });
  const stepping = await makeRelease(server, { isDraft: true });
  const rolloutPlan = planOf([1, 1], [100]);
  await staff.ok(releases.update, {
    params: { releaseId: stepping.id },
    body: { isDraft: false, rolloutPlan },
  });
  const long = new Date(clock - hours(5));
  await server.db
    .updateTable('releases')
    .set({ step_started_at: long })
    .where('release_id', '=', stepping.id)
    .execute();
  await server.db
    .updateTable('releases')
    .set({ damaged_at: long })
    .where('release_id', '=', damaged.id)
    .execute();
  await server.db
    .updateTable('releases')
    .set({ failures_claimed_at: long })
    .where('release_id', '=', claimed.id)
    .execute();
  await server.db
    .updateTable('releases')
    .set({ deleted_at: new Date(clock - days(25)) })
    .where('release_id', '=', trashed.id)
    .execute();
  await requireApproval(staff, other, 'stable');
  const draft = await makeRelease(server, { isDraft: true });
  const body = { isDraft: false, rolloutPercentage: 5 };
  await asked(other, doing(releases.update, { params: { releaseId: draft.id }, body }));
  const jumped = { at: new Date(clock - days(3)) };
  await server.db
    .insertInto('newest_moment')
    .values(jumped)
    .onConflict((conflict) => conflict.column('only_row').doUpdateSet(jumped))
    .execute();
  server.context.storage.check = () => Promise.reject(new Error('The disk is gone'));
  server.context.signals.drop('releases');
}

const everything = resources.flatMap((resource) =>
  resourceActions[resource].map((action) => ({ resource, action })),
);
const inWords = (held: readonly { resource: string; action: string }[]) =>
  held.map(({ resource, action }) => `${resource}:${action}`);

test('whoever asks sees the lines, figures and notices of their permissions, and no other', async () => {
  await light();
  await eventually(async () => {
    const seen = (await staff.ok(calls.get)).lines.map(({ kind }) => kind);
    expect(seen).toEqual(expect.arrayContaining(lit));
  });
  const attacker = await server.signInAs('viewer');
  const api = server.api(attacker.byCookie);
  await server.db.insertInto('roles').values({ role_id: 'attacker', description: '' }).execute();
  await server.db
    .updateTable('user_roles')
    .set({ role_id: 'attacker' })
    .where('user_id', '=', attacker.userId)
    .execute();
  const hold = async (held: typeof everything) => {
    await server.db.deleteFrom('role_permissions').where('role_id', '=', 'attacker').execute();
    if (held.length > 0)
      await server.db
        .insertInto('role_permissions')
        .values(held.map((one) => ({ role_id: 'attacker', ...one })))
        .execute();
    server.context.signals.drop('sessions');
  };
  const sets = [
    ...roleNames.map((role) => [...roleMatrix[role]]),
    // each role, and everything, with one permission less; and each permission alone
    ...[...roleNames.map((role) => roleMatrix[role]), everything].flatMap((held) =>
      held.map((lost) => held.filter((one) => one !== lost)),
    ),
    ...everything.map((one) => [one]),
  ];
  const different = new Map(sets.map((held) => [inWords(held).toSorted().join(), held]));
  for (const held of different.values()) {
    await hold(held);
    // somebody who sees everything asks at the same time: what is shared is no more than they may know
    const [answer] = await Promise.all([api.ok(calls.get), staff.ok(calls.get)]);
    const words = inWords(held);
    const above = noticesIn(await api.ok(notices.list));
    const shown = answer.lines.map(({ kind }) => kind).filter((kind) => lit.includes(kind));
    expect(shown, words.join(' ')).toEqual(lit.filter((kind) => mayKnow(kind, words)));
    expect(answer.lines.filter(({ kind }) => !mayKnow(kind, words))).toEqual([]);
    const known = Object.keys(above).map((kind) => [kind, mayKnow(kind as keyof typeof above, words)]);
    expect(above, words.join(' ')).toEqual(Object.fromEntries(known));
    expect(answer.figures.map(({ figure }) => figure)).toEqual(
      figures.filter((figure) => mayKnow(figure, words)),
    );
  }
});
