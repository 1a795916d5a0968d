import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { apiKeys } from '../../../contract/api-keys.ts';
import { approvals } from '../../../contract/approvals.ts';
import { audit } from '../../../contract/audit.ts';
import { customers } from '../../../contract/customers.ts';
import { licenses, type License } from '../../../contract/licenses.ts';
import type { RolloutAttention } from '../../../contract/rollout-attention.ts';

import { releases } from '../../../contract/releases.ts';
import { session } from '../../../contract/session.ts';
import type { TodayKind } from '../../../contract/today-needs.ts';
import { today as calls } from '../../../contract/today.ts';
import { validation } from '../../../contract/validation.ts';
import { asked, doing, pauseByGuard, requireApproval } from '../../../tests/approving.ts';
import {
  deactivate,
  makeApiKey,
  makeCustomer,
  makeLicense,
  makeRelease,
  revoke,
  softDelete,
  validateOn,
  type LicenseFields,
} from '../../../tests/factories.ts';
import {
  days,
  eventually,
  hours,
  minutes,
  movableClock,
  startTestServer,
  type Api,
  type TestServer,
} from '../../../tests/harness.ts';
import { issueTo, offlineMachine } from '../../../tests/offline-machine.ts';
import { signInsForToday } from '../audit/index.ts';
import { planOf } from '../../../tests/plan-of.ts';

const start = '2026-11-20T09:30:00.000Z';
const at = (ms: number) => new Date(Date.parse(start) + ms).toISOString();

/** Not as it was shared a moment ago, before the clock was moved. */
function lines(api: Api) {
  for (const topic of ['licenses', 'releases', 'apiKeys', 'sessions'] as const)
    server.context.signals.drop(topic);
  return api.ok(calls.get).then((answer) => answer.lines);
}
const lineOf = async (api: Api, kind: TodayKind) => (await lines(api)).find((line) => line.kind === kind);
const countOf = async (api: Api, kind: TodayKind) => (await lineOf(api, kind))?.count ?? 0;

let server: TestServer;
let staff: Api;
let desktop: Api;

/** Each group on a server of its own, whose clock it moves. */
const onOwnServer = () => {
  beforeAll(async () => {
    server = await startTestServer({
      clock: movableClock(start),
    });
    staff = server.api((await server.signInAs('super_admin')).byCookie);
    desktop = server.api(await makeApiKey(staff));
    return () => server.close();
  });
};

const license = (fields: LicenseFields) =>
  makeLicense(staff, { validFrom: '2026-01-01T00:00:00Z', ...fields });
const listed = async (query: Record<string, string>): Promise<string[]> =>
  (await staff.ok(licenses.list, { query })).map((one: License) => one.licenseKey).toSorted();
const keysOf = (...all: License[]) => all.map((one) => one.licenseKey).toSorted();

describe('licenses', () => {
  onOwnServer();

  test('that end within 30 days are counted to the millisecond, and are those of the list', async () => {
    const now = await license({ validUntil: at(0) });
    const last = await license({ validUntil: at(days(30)) });
    await license({ validUntil: at(days(30) + 1) });
    await license({ validUntil: at(-1) });
    await revoke(staff, await license({ validUntil: at(days(3)) }));
    const gone = await license({ validUntil: at(days(3)) });
    await softDelete(staff, gone);
    expect(await lineOf(staff, 'licensesEnding')).toMatchObject({
      count: 2,
      next: { id: now.licenseId, name: now.customer!.name, at: at(0) },
    });
    const shown = { tab: 'active', expiringWithinDays: '30' };
    expect(await listed(shown)).toEqual(keysOf(now, last));
    server.clock.advance(1);
    expect(await listed(shown)).toHaveLength(await countOf(staff, 'licensesEnding'));
    server.clock.set(start);
  });

  test('that ended within 7 days count while machines ask, and are those of the list', async () => {
    const asking = await license({ validUntil: at(-days(7)) });
    const recent = await license({ validUntil: at(-1) });
    const older = await license({ validUntil: at(-days(7) - 1) });
    await license({ validUntil: at(-days(1)) });
    for (const one of [asking, recent, older])
      expect((await validateOn(desktop, one, 'm')).code).toBe('EXPIRED');
    await eventually(async () => expect(await countOf(staff, 'licensesEnded')).toBe(2));
    const shown = { tab: 'expired', attention: 'ended' };
    expect(await listed(shown)).toEqual(keysOf(asking, recent));
    expect((await lineOf(staff, 'licensesEnded'))?.next).toMatchObject({ id: recent.licenseId, at: at(-1) });
    // extended, and ended again: the machine asked before that
    for (const validUntil of [at(days(200)), at(1)])
      await staff.ok(licenses.update, { params: { id: recent.licenseId }, body: { validUntil } });
    server.clock.advance(2);
    expect(await listed(shown)).toEqual([]);
    expect(await countOf(staff, 'licensesEnded')).toBe(0);
    server.clock.set(start);
  });

  test('that are full count for 3 days after they refused a machine, and are those of the list', async () => {
    const full = await license({ maxActivations: 1 });
    const patient = await license({ maxActivations: 1 });
    for (const one of [full, patient]) expect((await validateOn(desktop, one, 'first')).code).toBe('VALID');
    expect((await validateOn(desktop, full, 'second')).code).toBe('TOO_MANY_ACTIVATIONS');
    const shown = { tab: 'active', attention: 'full' };
    await eventually(async () => expect(await countOf(staff, 'licensesFull')).toBe(1));
    expect(await listed(shown)).toEqual(keysOf(full));
    server.clock.set(at(days(3)));
    expect(await countOf(staff, 'licensesFull')).toBe(1);
    server.clock.set(at(days(3) + 1));
    expect([await countOf(staff, 'licensesFull'), await listed(shown)]).toEqual([0, []]);
    server.clock.set(start);
    await deactivate(staff, { activationId: (await firstSeat(full))!, machineId: 'first' });
    expect([await countOf(staff, 'licensesFull'), await listed(shown)]).toEqual([0, []]);
    // full again, but the machine that was refused has the seat, also after it changes hands once more
    expect((await validateOn(desktop, full, 'second')).code).toBe('VALID');
    expect([await countOf(staff, 'licensesFull'), await listed(shown)]).toEqual([0, []]);
    server.clock.advance(1);
    const { licenseKey } = full;
    await desktop.ok(validation.releaseSeat, { body: { licenseKey, machineId: 'second' } });
    expect((await validateOn(desktop, full, 'third')).code).toBe('VALID');
    expect([await countOf(staff, 'licensesFull'), await listed(shown)]).toEqual([0, []]);
    server.clock.advance(1);
    expect((await validateOn(desktop, full, 'second')).code).toBe('TOO_MANY_ACTIVATIONS');
    await eventually(async () => expect(await countOf(staff, 'licensesFull')).toBe(1));
    const next = (await lineOf(staff, 'licensesFull'))?.next;
    expect(next).toMatchObject({ id: full.licenseId, at: at(2) });
    // one that waits beside as many refused machines as are kept
    await server.db.deleteFrom('refusals').execute();
    await sql`insert into refusals (license_id, machine_id, code, since, refused_at)
      select ${full.licenseId}, 'made up ' || n, 'EXPIRED', ${at(-1)}, ${at(-1)} from generate_series(1, 1000) n`.execute(
      server.db,
    );
    server.clock.advance(minutes(6));
    expect((await validateOn(desktop, full, 'fourth')).code).toBe('TOO_MANY_ACTIVATIONS');
    await eventually(async () => {
      const found = await lineOf(staff, 'licensesFull');
      expect(found).toMatchObject({ count: 1, next: { at: at(2 + minutes(6)) } });
    });
    server.clock.set(start);
  });

  test('with a license file that ends within 7 days are counted once each, and are those of the list', async () => {
    const ends = async (machines: string[], lasts: number) => {
      const one = await license({});
      for (const machine of machines) await issueTo(staff, one, offlineMachine(machine), lasts);
      return one;
    };
    const soon = await ends(['a', 'b'], 1);
    await ends(['c'], 60);
    const { rows } = await server.pool.query<{ until: Date }>(
      `select max(offline_until) as until from activations where license_id = $1`,
      [soon.licenseId],
    );
    const until = rows[0]!.until.getTime();
    const shown = { tab: 'active', attention: 'offline' };
    server.clock.set(new Date(until - days(7) - 1));
    expect([await countOf(staff, 'offlineEnding'), await listed(shown)]).toEqual([0, []]);
    server.clock.set(new Date(until - days(7)));
    expect([await countOf(staff, 'offlineEnding'), await listed(shown)]).toEqual([1, keysOf(soon)]);
    server.clock.set(start);
  });

  test('of a customer that is deleted meanwhile no longer count', async () => {
    const { customerId } = await makeCustomer(staff);
    const one = await license({ customerId, validUntil: at(days(20)) });
    /** As it is shared. */
    const shown = async () =>
      (await staff.ok(calls.get)).lines.find(({ kind }) => kind === 'licensesEnding')?.count ?? 0;
    const before = await shown();
    await softDelete(staff, one);
    expect(await shown()).toBe(before - 1);
    await staff.ok(customers.restore, { params: { id: customerId } });
    expect(await shown()).toBe(before);
  });
});

const firstSeat = async ({ licenseId }: License) =>
  (
    await server.db
      .selectFrom('activations')
      .select('activation_id')
      .where('license_id', '=', licenseId)
      .executeTakeFirst()
  )?.activation_id;

describe('releases', () => {
  onOwnServer();
  const plan = planOf([1, 24], [100]);
  const found = async (attention: RolloutAttention) =>
    (await staff.ok(releases.list, { query: { attention, showInactive: 'false' } })).map(({ id }) => id);

  test('are counted by why they need a person, each once, and are those of the list', async () => {
    const [damaged, failing, paused, claimed] = [
      await makeRelease(server),
      await makeRelease(server),
      await makeRelease(server),
      await makeRelease(server),
    ];
    await makeRelease(server);
    const inactive = await makeRelease(server);
    for (const one of [paused, inactive])
      await staff.ok(releases.pause, { params: { releaseId: one.id }, body: { reason: 'Crashes' } });
    await staff.ok(releases.withdraw, { params: { releaseId: inactive.id }, body: { reason: 'Crashes' } });
    await pauseByGuard(server, failing);
    await pauseByGuard(server, damaged);
    await server.db
      .updateTable('releases')
      .set({ damaged_at: server.clock.now() })
      .where('release_id', '=', damaged.id)
      .execute();
    await server.db
      .updateTable('releases')
      .set({ failures_claimed_at: server.clock.now() })
      .where('release_id', 'in', [paused.id, claimed.id])
      .execute();
    const ofReleases = (await lines(staff)).filter(({ kind }) => /^(releases|rollouts)/.test(kind));
    expect(ofReleases.map(({ kind, count, next }) => [kind, count, next?.id])).toEqual([
      ['releasesDamaged', 1, damaged.id],
      ['rolloutsFailing', 1, failing.id],
      ['rolloutsClaimed', 1, claimed.id],
      ['rolloutsPaused', 1, paused.id],
    ]);
    expect(await found('damaged')).toEqual([damaged.id]);
    expect(await found('failing')).toEqual([failing.id]);
    expect(await found('claimed')).toEqual([claimed.id]);
    expect(await found('paused')).toEqual([paused.id]);
  });

  test('whose next step was due 5 minutes ago wait for a person, and are those of the list', async () => {
    const draft = await makeRelease(server, { isDraft: true });
    await staff.ok(releases.update, {
      params: { releaseId: draft.id },
      body: { isDraft: false, rolloutPlan: plan },
    });
    server.clock.advance(hours(24) + minutes(5) - 1);
    expect([await countOf(staff, 'rolloutsReady'), await found('ready')]).toEqual([0, []]);
    server.clock.advance(1);
    const ready = [1, [draft.id]];
    expect([await countOf(staff, 'rolloutsReady'), await found('ready')]).toEqual(ready);
    // a newer partial rollout, for which it waits
    const { platform, architecture, channel, fileName } = draft;
    const hotfix = await makeRelease(server, {
      platform,
      architecture,
      channel,
      fileName,
      version: `${draft.version.split('.')[0]}.999.0`,
      rolloutPercentage: 5,
    });
    expect([await countOf(staff, 'rolloutsReady'), await found('ready')]).toEqual([0, []]);
    await staff.ok(releases.pause, { params: { releaseId: hotfix.id }, body: { reason: 'Fails' } });
    expect([await countOf(staff, 'rolloutsReady'), await found('ready')]).toEqual(ready);
  });

  test('in the bin count 7 days before they are deleted, and are those of the list', async () => {
    const old = await makeRelease(server);
    await staff.ok(releases.softDelete, { params: { releaseId: old.id }, body: { reason: 'Old' } });
    const deleted = server.clock.now().getTime();
    const bin = async () =>
      (await staff.ok(releases.trash, { query: { dueWithinDays: '7' } })).releases.map(({ id }) => id);
    server.clock.set(new Date(deleted + days(23) - 1));
    expect([await countOf(staff, 'trashEnding'), await bin()]).toEqual([0, []]);
    server.clock.set(new Date(deleted + days(23)));
    expect([await countOf(staff, 'trashEnding'), await bin()]).toEqual([1, [old.id]]);
    expect((await lineOf(staff, 'trashEnding'))?.next).toEqual({
      id: old.id,
      name: old.version,
      at: new Date(deleted + days(30)).toISOString(),
    });
  });

  test('that ask for approval count for those who may give it, and not for who asked', async () => {
    const [one, other] = [
      server.api((await server.signInAs('binary_manager')).byCookie),
      server.api((await server.signInAs('admin')).byCookie),
    ];
    await requireApproval(one, other, 'stable');
    const draft = await makeRelease(server, { isDraft: true });
    const publish = doing(releases.update, {
      params: { releaseId: draft.id },
      body: { isDraft: false, rolloutPercentage: 5 },
    });
    const request = await asked(one, publish);
    const waiting = async (api: Api) =>
      (await api.ok(approvals.list, { query: { waiting: 'true' } })).map(({ id }) => id);
    expect([await countOf(one, 'approvalsWaiting'), await waiting(one)]).toEqual([0, []]);
    expect([await countOf(other, 'approvalsWaiting'), await waiting(other)]).toEqual([1, [request.id]]);
    expect((await lineOf(other, 'approvalsWaiting'))?.next).toMatchObject({
      id: request.id,
      name: `${request.subject}: ${request.what}`,
    });
    // outdated: it can no longer be approved
    await staff.ok(releases.update, { params: { releaseId: draft.id }, body: { releaseNotes: 'Other' } });
    expect([await countOf(other, 'approvalsWaiting'), await waiting(other)]).toEqual([0, []]);
  });
});

describe('API keys', () => {
  onOwnServer();
  const found = async (attention: 'ending' | 'refused' | 'limited') =>
    (await staff.ok(apiKeys.list, { query: { attention } })).apiKeys.map(({ id }) => id);
  const update = (id: string, body: object) => staff.ok(apiKeys.update, { params: { keyId: id }, body });
  const call = (who: Parameters<typeof server.api>[0]) =>
    server
      .api(who)
      .call(licenses.list)
      .then(({ status }) => status);

  test('that expire within 30 days are counted, and are those of the list', async () => {
    const last = await makeApiKey(staff, { expiresAt: at(days(30)) });
    await makeApiKey(staff, { expiresAt: at(days(30) + 1) });
    const revoked = await makeApiKey(staff, { expiresAt: at(days(2)) });
    await staff.ok(apiKeys.revoke, { params: { keyId: revoked.id } });
    const off = await makeApiKey(staff, { expiresAt: at(days(2)) });
    await update(off.id, { isActive: false });
    expect([await countOf(staff, 'keysEnding'), await found('ending')]).toEqual([1, [last.id]]);
    expect((await lineOf(staff, 'keysEnding'))?.next).toEqual({
      id: last.id,
      name: last.name,
      at: at(days(30)),
    });
  });

  test('that were refused within 24 hours are counted once each, and are those of the list', async () => {
    const key = await makeApiKey(staff);
    await update(key.id, { isActive: false });
    for (let times = 0; times < 3; times++) expect(await call(key)).toBe(401);
    await call({ headers: { 'x-api-key': 'lyd_000000000000_unknown' } });
    expect([await countOf(staff, 'keysRefused'), await found('refused')]).toEqual([1, [key.id]]);
    server.clock.advance(hours(24));
    expect(await countOf(staff, 'keysRefused')).toBe(1);
    server.clock.advance(1);
    expect([await countOf(staff, 'keysRefused'), await found('refused')]).toEqual([0, []]);
  });

  test('that a clock which was ahead refused as expired, or by their limit, are not among them', async () => {
    const key = await makeApiKey(staff, { rateLimit: 1, expiresAt: at(days(60)) });
    const right = server.clock.now();
    server.clock.advance(days(30));
    await validateOn(server.api(key), 'x', 'm');
    server.clock.advance(days(400));
    expect(await call(key)).toBe(401);
    server.clock.set(right);
    expect([await countOf(staff, 'keysRefused'), await found('refused')]).toEqual([0, []]);
    expect([await countOf(staff, 'keysLimited'), await found('limited')]).toEqual([0, []]);
  });

  test('that used up their requests are counted until the end of the next hour, and are those of the list', async () => {
    server.clock.set('2026-12-01T10:59:00Z');
    const key = await makeApiKey(staff, { rateLimit: 2 });
    const validate = () => validateOn(server.api(key), 'x', 'm');
    await validate();
    expect([await countOf(staff, 'keysLimited'), await found('limited')]).toEqual([0, []]);
    await validate();
    expect([await countOf(staff, 'keysLimited'), await found('limited')]).toEqual([1, [key.id]]);
    server.clock.set('2026-12-01T11:59:59Z');
    expect(await countOf(staff, 'keysLimited')).toBe(1);
    server.clock.set('2026-12-01T12:00:00Z');
    expect([await countOf(staff, 'keysLimited'), await found('limited')]).toEqual([0, []]);
  });
});

describe('refused sign-ins', () => {
  onOwnServer();
  const refuse = async (times: number) => {
    for (let n = 0; n < times; n++)
      await server
        .api()
        .call(session.login, { body: { email: `nobody${n}@lanyard.test`, password: 'wrong' } });
  };
  const inLog = async (since: string) =>
    (await staff.ok(audit.list, { query: { eventType: 'session.login_failed', startDate: since } })).total;

  test('count when there are more than 10 in 24 hours, and are those of the log', async () => {
    await refuse(10);
    expect(await lineOf(staff, 'signInsRefused')).toBeUndefined();
    await refuse(1);
    server.clock.advance(5000);
    const line = await lineOf(staff, 'signInsRefused');
    expect(line).toMatchObject({ count: 11, usual: 0, since: at(5000 - days(1)) });
    expect(await inLog(line!.since!)).toBe(11);
    // one more than are counted says that there are more
    expect(await signInsForToday(server.db, server.clock.now(), 10)).toMatchObject({ count: 11 });
  });

  test('count only above three times what was usual in the 14 days before', async () => {
    const usual = (entries: number, day: string) => ({
      day: new Date(day),
      event_type: 'session.login_failed',
      user_email: '',
      entries,
      failed: entries,
    });
    const write = (...rows: ReturnType<typeof usual>[]) =>
      server.db.insertInto('audit_days').values(rows).execute();
    // the log is a day old
    await write(usual(35, '2026-11-18'));
    server.clock.advance(5000);
    expect(await countOf(staff, 'signInsRefused')).toBe(0);
    // the first of these days, and what is too old
    await write(usual(21, '2026-11-05'), usual(1000, '2026-11-04'));
    server.clock.advance(5000);
    // 4 a day: 12 are three times as many
    await refuse(1);
    expect(await countOf(staff, 'signInsRefused')).toBe(0);
    await refuse(1);
    server.clock.advance(5000);
    expect(await lineOf(staff, 'signInsRefused')).toMatchObject({ count: 13, usual: 4 });
  });
});

describe('the audit log', () => {
  onOwnServer();

  test('is a line when its chain is broken, or its head cannot be kept', async () => {
    await server.audit.seal();
    expect([await countOf(staff, 'chainBroken'), await countOf(staff, 'chainNotKept')]).toEqual([0, 0]);
    const kept = join(server.context.config.dataDir, 'audit-head.json');
    await rm(kept);
    await mkdir(kept);
    await server.audit.tick();
    expect(await lineOf(staff, 'chainNotKept')).toMatchObject({ count: 1 });
    const client = await server.pool.connect();
    await client.query("set session_replication_role = 'replica'");
    await client.query(
      "update audit_entries set changes_summary = 'nothing' where event_type = 'session.login'",
    );
    await client.query('reset session_replication_role');
    client.release();
    const { broken } = await staff.ok(audit.verify);
    expect(await lineOf(staff, 'chainBroken')).toMatchObject({
      count: 1,
      next: { id: broken!.audit_id, name: broken!.problem },
    });
  });
});

describe('the storage', () => {
  onOwnServer();

  test('is a line while it cannot be used', async () => {
    const check = server.context.storage.check.bind(server.context.storage);
    server.context.storage.check = () => Promise.reject(new Error('The disk is gone'));
    await eventually(async () => expect(await countOf(staff, 'storageDown')).toBe(1));
    server.context.storage.check = check;
    await eventually(async () => expect(await countOf(staff, 'storageDown')).toBe(0));
  });
});
