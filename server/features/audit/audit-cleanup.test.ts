import { beforeEach, describe, expect, test, vi } from 'vitest';
import { audit as calls } from '../../../contract/audit.ts';
import { auditRoom } from '../../../tests/audit-room.ts';
import { days, startTestServer, type Api, type TestServer, checkedTime } from '../../../tests/harness.ts';
import { keepRetention } from '../../jobs/audit-retention.ts';

let server: TestServer;
let api: Api;
beforeEach(async () => {
  server = await startTestServer();
  api = server.api(await server.signInAs('super_admin'));
});

const { seal, verify, chain, fill, behindOurBack, at, write } = auditRoom(() => ({ server, api }));

describe('the cleanup', () => {
  const entryAt = (time: Date) => write(time, {});

  test('removes what is older than the retention to the millisecond, and the rest still verifies', async () => {
    const start = server.clock.now().getTime();
    await fill(3);
    for (const ms of [1, 2, 3]) await entryAt(new Date(start + ms));
    server.clock.advance(days(730) + 2);
    api = server.api(await server.signInAs('super_admin'));
    await seal();
    const promised = await api.ok(calls.cleanupImpact);
    const { removed, before } = await api.ok(calls.cleanup);
    expect(promised).toMatchObject({ entries: removed, newest: new Date(start + 1).toISOString() });
    expect({ removed, before }).toEqual({ removed: 6, before: new Date(start + 2).toISOString() });
    const left = await server.db.selectFrom('audit_entries').selectAll().orderBy('timestamp').execute();
    expect(left.map((e) => e.event_type)).toEqual([
      'test.made',
      'test.made',
      'user.created',
      'session.login',
      'audit.cleaned_up',
    ]);
    expect(left.at(-1)).toMatchObject({
      changes_summary: `Audit log: removed 6 entries from before ${before}`,
    });
    await seal();
    expect(await verify()).toMatchObject({ whole: true, checkedEntries: 5, anchors: 1 });
    expect((await chain())[0]!.sequence).toBe(7);
    expect((await api.ok(calls.stats, { query: { days: '1' } })).total).toBe(3);
  });

  test('leaves an anchor that cannot be forged', async () => {
    await fill(3);
    server.clock.advance(days(800));
    await entryAt(server.clock.now());
    await seal();
    expect(await keepRetention(server.context, checkedTime(server), server.audit)).toBe(5);
    expect((await verify()).whole).toBe(true);
    await behindOurBack('update audit_anchors set removed = 4');
    expect((await verify()).broken!.problem).toMatch(
      /^The anchor of the cleanup of 2029-01-28 is not signed by this installation\.$/,
    );
    await server.audit.tick();
    expect(server.audit.state().broken, 'found without being asked').toMatchObject({ sequence: 5 });
    await behindOurBack('update audit_anchors set removed = 5');
    const first = (await chain())[0]!;
    await behindOurBack('delete from audit_entries where audit_id = $1', [first.audit_id]);
    await behindOurBack('delete from audit_seals where sequence = $1', [first.sequence]);
    expect((await verify()).broken).toMatchObject({ sequence: 6 });
  });

  test('may remove everything, again and again', async () => {
    for (const round of [1, 2, 3]) {
      await fill(2);
      server.clock.advance(days(1000));
      expect(await keepRetention(server.context, checkedTime(server), server.audit)).toBeGreaterThan(0);
      await seal();
      expect(await verify()).toMatchObject({ whole: true, anchors: round });
      server.clock.advance(1);
      api = server.api(await server.signInAs('super_admin'));
    }
  });

  test('removes nothing that is not sealed, and keeps order where clocks differ', async () => {
    await entryAt(server.clock.now());
    await entryAt(new Date(server.clock.now().getTime() - days(1000)));
    expect(await keepRetention(server.context, checkedTime(server), server.audit)).toBe(0);
    await seal();
    // older, but behind one that is not
    expect(await keepRetention(server.context, checkedTime(server), server.audit)).toBe(0);
    expect((await verify()).whole).toBe(true);
  });

  test('by the clock leaves no entry when there is nothing to do, by a person it does', async () => {
    const count = async () => (await server.db.selectFrom('audit_entries').selectAll().execute()).length;
    const before = await count();
    expect(await keepRetention(server.context, checkedTime(server), server.audit)).toBe(0);
    expect(await count()).toBe(before);
    expect((await api.ok(calls.cleanup)).removed).toBe(0);
    expect(await count()).toBe(before + 1);
  });

  test('by a person removes nothing by another retention than was shown', async () => {
    const answer = await api.call(calls.cleanup, { query: { days: '91' } });
    expect([answer.status, answer.body.error]).toEqual([
      409,
      'Nothing was removed. Entries are kept for 730 days now, not 91.',
    ]);
    await api.ok(calls.cleanup, { query: { days: '730' } });
  });

  test('by a person holds no transaction open while a place of the head is read', async () => {
    const read = server.audit.readHeads;
    const open = `select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`;
    const held = vi.spyOn(server.audit, 'readHeads').mockImplementation(async () => {
      expect((await server.pool.query(open)).rowCount).toBe(0);
      return read();
    });
    await api.ok(calls.cleanup);
    expect(held).toHaveBeenCalledOnce();
  });

  test('keeps the evidence: what was altered is not removed', async () => {
    await fill(4);
    const { audit_id } = await at(5);
    await behindOurBack("update audit_entries set timestamp = '2020-01-01' where audit_id = $1", [audit_id]);
    server.clock.advance(days(800));
    expect(await keepRetention(server.context, checkedTime(server), server.audit)).toBe(0);
    api = server.api(await server.signInAs('super_admin'));
    const answer = await api.call(calls.cleanup);
    expect(answer.status).toBe(409);
    expect(answer.body.error).toBe(
      'The chain is broken among the entries to be removed, so nothing was removed. The entry was altered after it was written.',
    );
    expect(await at(1)).toBeDefined();
  });

  test('keeps the evidence whole, however far behind the first entries it lies', async () => {
    await write(server.clock.now(), {}, 600);
    await seal();
    const { audit_id } = await at(590);
    await behindOurBack("update audit_entries set timestamp = '2020-01-01' where audit_id = $1", [audit_id]);
    server.clock.advance(days(800));
    expect(await keepRetention(server.context, checkedTime(server), server.audit)).toBe(0);
    expect(await at(1)).toBeDefined();
    expect((await verify()).broken).toMatchObject({ audit_id, sequence: 590 });
  });

  test('of two at once, both end well and every entry goes once', async () => {
    await fill(30);
    server.clock.advance(days(800));
    const removed = await Promise.all(
      [1, 2, 3, 4].map(() => keepRetention(server.context, checkedTime(server), server.audit)),
    );
    expect(removed.toSorted((a, b) => b - a)).toEqual([32, 0, 0, 0]);
    await seal();
    expect((await verify()).whole).toBe(true);
  });

  test('while the chain is checked, does not look like a break', async () => {
    await write(server.clock.now(), {}, 1500);
    await seal();
    server.clock.advance(days(800));
    const [checked] = await Promise.all([
      verify(),
      keepRetention(server.context, checkedTime(server), server.audit),
    ]);
    expect(checked).toMatchObject({ whole: true });
    expect((await verify()).whole).toBe(true);
  });

  test('keeps the figures of the days whose entries stay, behind one that a clock ahead has dated', async () => {
    const start = server.clock.now().getTime();
    for (const n of [1, 800, 2, 3]) await entryAt(new Date(start + days(n)));
    await seal();
    server.clock.advance(days(750));
    const made = server.db.selectFrom('audit_days').select('day').where('event_type', '=', 'test.made');
    const figures = async () => (await made.orderBy('day').execute()).map(({ day }) => day);
    const [, ...rest] = await figures();
    expect(rest).toHaveLength(3);
    expect(await keepRetention(server.context, checkedTime(server), server.audit)).toBe(3);
    expect(await figures()).toEqual(rest);
    api = server.api(await server.signInAs('super_admin'));
    expect((await api.ok(calls.cleanup)).removed).toBe(0);
    expect(await figures()).toEqual(rest);
  });
});
