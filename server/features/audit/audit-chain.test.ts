import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { audit as calls } from '../../../contract/audit.ts';
import { customers } from '../../../contract/customers.ts';
import { auditRoom, writeUnguarded } from '../../../tests/audit-room.ts';
import { makeCustomer } from '../../../tests/factories.ts';
import {
  days,
  eventually,
  startTestServer,
  startTwin,
  type Api,
  within,
  type TestServer,
  checkedTime,
} from '../../../tests/harness.ts';
import { keepRetention } from '../../jobs/audit-retention.ts';
import { startAuditSealer } from '../../jobs/audit-sealer.ts';
import { newSigningKey, readSigners } from '../../signer.ts';
import { auditKeys, macOf } from './keys.ts';
import { verifyChain } from './verify.ts';
import { createChainWatch } from './watch.ts';
import { sealOf, type Seal } from './chain.ts';
import { canonicalEntry, hashEntry } from './entry.ts';
import { sealPending } from './sealer.ts';

let server: TestServer;
let api: Api;
beforeEach(async () => {
  server = await startTestServer();
  api = server.api(await server.signInAs('super_admin'));
});

const { seal, verify, chain, fill, behindOurBack, at, write } = auditRoom(() => ({ server, api }));

describe('sealing', () => {
  test('chains every committed entry once, in the order of writing', async () => {
    await fill(5);
    const entries = await server.db.selectFrom('audit_entries').selectAll().orderBy('audit_id').execute();
    const seals = await chain();
    expect(seals.map((one) => one.audit_id)).toEqual(entries.map((one) => one.audit_id));
    expect(seals.map((one) => one.sequence)).toEqual(seals.map((_, n) => n + 1));
    expect(seals[0]!.previous_seal).toEqual(Buffer.alloc(32));
    for (const [n, one] of seals.entries()) {
      expect(one.entry_hash).toEqual(hashEntry(entries[n]!));
      if (n > 0) expect(one.previous_seal).toEqual(seals[n - 1]!.seal);
    }
    expect(await seal()).toBe(0);
    expect(await verify()).toMatchObject({ whole: true, checkedEntries: 7, unsealedEntries: 0, anchors: 0 });
  });

  test('by several processes at once seals each entry once', async () => {
    const second = await startTestServer({ database: server.database });
    await seal();
    for (let round = 0; round < 5; round++) {
      await write(new Date(), {}, 20);
      const sealed = await Promise.all([seal(), second.audit.seal(), seal(), second.audit.seal()]);
      expect(sealed.reduce((sum, one) => sum + one)).toBe(20);
    }
    expect(await verify()).toMatchObject({ whole: true, unsealedEntries: 0 });
  });

  test('does not skip what commits late', async () => {
    const late = await server.pool.connect();
    await late.query('begin');
    await late.query(
      `insert into audit_entries (audit_id, timestamp, event_type, resource_type, changes_summary, success)
       values (gen_random_uuid(), '2026-01-01', 'late', 'test', '', true)`,
    );
    await fill(3);
    const before = (await chain()).length;
    await late.query('commit');
    late.release();
    expect(await seal()).toBe(1);
    expect(await chain()).toHaveLength(before + 1);
  });

  test('is done within a second by the job', async () => {
    const job = startAuditSealer(server.context, server.audit);
    await within(1000, async () => {
      await makeCustomer(api);
      await eventually(async () => (await verify()).unsealedEntries === 0);
    });
    await job.stop();
  });

  test('is done by many at once without a fork, while many write', async () => {
    const twin = await startTwin(server);
    const other = twin.api(await twin.signInAs('super_admin'));
    const jobs = [server, twin, server, twin].map((one) => startAuditSealer(one.context, one.audit));
    await Promise.all(Array.from({ length: 60 }, (_, n) => makeCustomer(n % 2 === 0 ? api : other)));
    await Promise.all(Array.from({ length: 8 }, (_, n) => seal(n % 2 === 0 ? server : twin)));
    await eventually(async () => (await verify()).unsealedEntries === 0);
    await Promise.all(jobs.map((job) => job.stop()));
    const result = await verify();
    expect(result).toMatchObject({ whole: true, broken: null });
    expect(result.checkedEntries).toBe(
      (await server.db.selectFrom('audit_entries').selectAll().execute()).length,
    );
  });

  test('takes any text and number as it will be read back', async () => {
    const odd = {
      n: [0.1, 1e21, 1e-7, -0, 12345678901234567000],
      z: 1,
      a: { ü: 'ß', b: undefined, '2': null, '10': [] },
      at: new Date(0),
    };
    await write(server.clock.now(), {
      summary: `half a pair \u{d83d} and ${'👩‍👩‍👧'.slice(0, 3)}`,
      before: odd,
      after: {},
      error: '\u{dc00}',
    });
    await seal();
    expect(await verify()).toMatchObject({ whole: true });
  });
});

describe('an entry that was', () => {
  beforeEach(() => fill(6));

  /** Another value of each type, of a column `c`. */
  const others = new Map([
    ['uuid', 'gen_random_uuid()'],
    ['text', "'x' || coalesce(c, '')"],
    ['jsonb', `coalesce(c, '{}') || '{"name": "Other"}'`],
    ['bool', 'not c'],
    ['timestamptz', "c - interval '1 millisecond'"],
    ['int4', 'c + 100'],
    ['int8', 'c + 100'],
    ['bytea', 'set_byte(c, 0, 255 - get_byte(c, 0))'],
  ]);
  const altered = 'The entry was altered after it was written.';

  test.each([
    ['audit_entries', '(select audit_id from audit_seals where sequence = 10)', altered],
    ['audit_seals', '10', 'The seal of the entry was altered.'],
    ['audit_head', 'true', 'The record of where the chain ends was altered.'],
    ['audit_anchors', '8', 'The anchor of the cleanup of 2029-01-28 is not signed by this installation.'],
  ])('altered is named, whichever column of %s it is', async (table, key, usual) => {
    server.clock.advance(days(800));
    api = server.api(await server.signInAs('super_admin'));
    await fill(2);
    expect(await keepRetention(server.context, checkedTime(server), server.audit)).toBe(8);
    await seal();
    const { rows: columns } = await server.pool.query<{ name: string; type: string }>(
      `select column_name as name, udt_name as type from information_schema.columns
        where table_schema = current_schema() and table_name = $1 order by ordinal_position`,
      [table],
    );
    await server.pool.query(`create table saved as table ${table}`);
    const problems = new Map<string, string | undefined>();
    for (const { name, type } of columns) {
      // the only row of the head is true by a constraint
      if (name === 'only_row') continue;
      const other = others.get(type)!.replace(/\bc\b/g, `"${name}"`);
      await behindOurBack(`update ${table} set "${name}" = ${other} where ${columns[0]!.name} = ${key}`);
      problems.set(name, (await verify()).broken?.problem);
      await behindOurBack(`delete from ${table}`);
      await behindOurBack(`insert into ${table} table saved`);
    }
    expect((await verify()).whole).toBe(true);
    expect([...problems].filter(([, problem]) => problem === undefined)).toEqual([]);
    expect([...problems.values()]).toContain(usual);
  });

  test('without its mac is named', async () => {
    const { audit_id, sequence } = await at(4);
    await behindOurBack('update audit_entries set mac = null where audit_id = $1', [audit_id]);
    expect((await verify()).broken).toEqual({ audit_id, sequence, problem: altered });
  });

  test('altered together with its seal, and all seals after it made again, is named', async () => {
    const { audit_id } = await at(4);
    await behindOurBack("update audit_entries set user_email = 'x' where audit_id = $1", [audit_id]);
    const forged = auditKeys({ ...server.auditKeys.current.signer, sign: () => 'a guess' });
    let previous = (await at(3)).seal;
    for (const one of (await chain()).slice(3)) {
      const entry = await server.db
        .selectFrom('audit_entries')
        .selectAll()
        .where('audit_id', '=', one.audit_id)
        .executeTakeFirstOrThrow();
      const next: Seal = { ...one, entry_hash: hashEntry(entry), previous_seal: previous };
      previous = sealOf(forged.current.seal, next);
      await behindOurBack(
        'update audit_seals set entry_hash = $2, previous_seal = $3, seal = $4 where sequence = $1',
        [one.sequence, next.entry_hash, next.previous_seal, previous],
      );
    }
    expect((await verify()).broken).toMatchObject({ audit_id, sequence: 4 });
  });

  test.each([
    ['audit_entries', 'timestamp', 'The entry was altered after it was written.'],
    ['audit_seals', 'entry_hash', 'The seal of the entry has a form that Lanyard does not write.'],
    ['audit_seals', 'sealed_at', 'The seal of the entry has a form that Lanyard does not write.'],
    ['audit_seals', 'seal', 'The seal of the entry has a form that Lanyard does not write.'],
  ])('left in %s without its %s is named', async (table, column, problem) => {
    const { audit_id, sequence } = await at(4);
    await behindOurBack('alter table audit_seals alter column seal drop not null');
    await behindOurBack(`alter table ${table} alter column ${column} drop not null`);
    await behindOurBack(`update ${table} set ${column} = null where audit_id = $1`, [audit_id]);
    expect((await api.ok(calls.verify)).broken).toEqual({ audit_id, sequence, problem });
    await server.audit.tick();
    expect(server.audit.state().broken, 'found without being asked').toMatchObject({ audit_id });
    await behindOurBack('update audit_seals set seal = null where sequence = 8');
    await fill(1);
    expect((await api.ok(calls.verify)).broken).toMatchObject({ audit_id });
  });

  test('altered and signed again with our keys is named', async () => {
    const { audit_id, sequence } = await at(4);
    const entry = await server.db
      .selectFrom('audit_entries')
      .selectAll()
      .where('audit_id', '=', audit_id)
      .executeTakeFirstOrThrow();
    const mac = macOf(
      server.auditKeys.current.entry,
      canonicalEntry({ ...entry, changes_summary: 'Nothing happened' }),
    );
    await behindOurBack(
      "update audit_entries set changes_summary = 'Nothing happened', mac = $2 where audit_id = $1",
      [audit_id, mac],
    );
    const problem = 'The entry was altered after it was sealed.';
    expect((await verify()).broken).toEqual({ audit_id, sequence, problem });
  });

  test('sealed at another time than its seal says is named', async () => {
    const { audit_id } = await at(4);
    await behindOurBack("update audit_seals set sealed_at = sealed_at - interval '1 day' where sequence = 4");
    const problem = 'The seal of the entry was altered.';
    expect((await verify()).broken).toEqual({ audit_id, sequence: 4, problem });
  });

  test('taken over with its seal from another history of the same keys is named', async () => {
    const own = (await chain())[3]!;
    const foreign = { ...own, previous_seal: randomBytes(32) };
    await behindOurBack('update audit_seals set previous_seal = $1, seal = $2 where sequence = 4', [
      foreign.previous_seal,
      sealOf(server.auditKeys.current.seal, foreign),
    ]);
    const problem = 'The seal does not follow the one before it.';
    expect((await verify()).broken).toEqual({ audit_id: own.audit_id, sequence: 4, problem });
  });

  test('removed is named', async () => {
    const { audit_id } = await at(3);
    await behindOurBack('delete from audit_entries where audit_id = $1', [audit_id]);
    const problem = 'The entry was removed from the database.';
    expect((await verify()).broken).toEqual({ audit_id, sequence: 3, problem });
  });

  test('removed together with its seal leaves a gap that is named', async () => {
    const { audit_id } = await at(3);
    await behindOurBack('delete from audit_entries where audit_id = $1', [audit_id]);
    await behindOurBack('delete from audit_seals where audit_id = $1', [audit_id]);
    expect((await verify()).broken).toEqual({
      audit_id: null,
      sequence: 3,
      problem: 'Entry 3 of the chain was removed from the database, together with the seal.',
    });
  });

  test('removed at the end of the chain is missed, also when sealing went on', async () => {
    await behindOurBack(
      'delete from audit_entries where audit_id in (select audit_id from audit_seals where sequence > 6)',
    );
    await behindOurBack('delete from audit_seals where sequence > 6');
    const broken = {
      audit_id: null,
      sequence: 7,
      problem: 'The entries 7 to 8 of the chain were removed from the database, together with the seals.',
    };
    expect((await verify()).broken).toEqual(broken);
    await fill(2);
    expect((await verify()).broken).toMatchObject({ sequence: 7, audit_id: null });
    await behindOurBack(
      'update audit_head set sequence = 6, seal = (select seal from audit_seals where sequence = 6)',
    );
    expect((await verify()).whole).toBe(false);
    await fill(1);
    expect((await verify()).whole).toBe(false);
  });

  test('removed before it was sealed is named', async () => {
    await makeCustomer(api);
    const { audit_id } = await server.db
      .selectFrom('audit_pending')
      .select('audit_id')
      .executeTakeFirstOrThrow();
    await behindOurBack('delete from audit_entries where audit_id = $1', [audit_id]);
    await seal();
    const problem = 'The entry was removed from the database before it was sealed.';
    expect((await verify()).broken).toEqual({ audit_id, sequence: null, problem });
  });

  const insert = `insert into audit_entries (audit_id, timestamp, user_email, event_type, resource_type,
    changes_summary, success, mac) values ($1, now(), 'admin', 'license.revoked', 'license', 'x', true, $2)`;
  const id = '01920000-0000-7000-8000-000000000000';
  const problem =
    'The entry was not written by Lanyard: it was inserted into the database by hand, or altered before it was sealed.';

  test.each([
    ['without a mac', 'null'],
    ['with the mac of another', '(select mac from audit_entries limit 1)'],
  ])('inserted by hand %s is named, before it is sealed and after', async (_, mac) => {
    await server.pool.query(insert.replace('$2', mac), [id]);
    expect((await verify()).broken).toEqual({ audit_id: id, sequence: null, problem });
    await fill(2);
    expect((await verify()).broken).toEqual({ audit_id: id, sequence: 9, problem });
    expect((await api.ok(calls.verify)).broken).toMatchObject({ audit_id: id });
  });

  test.each([
    ['at a time without end', "'infinity'", 'null'],
    ['at a time before every other', "'-infinity'", 'null'],
    ['at a time that JavaScript does not know', "'290000-01-01'", 'null'],
    ['before our era', "'0044-03-15 BC'", 'null'],
    ['with a record deeper than any of ours', 'now()', "(repeat('[', 6000) || repeat(']', 6000))::jsonb"],
  ])('inserted by hand %s is sealed and named, and the log is shown', async (_, time, after) => {
    await server.pool.query(
      `insert into audit_entries (audit_id, timestamp, event_type, resource_type, changes_summary, success, after, mac)
       select $1, ${time}, 'license.revoked', 'license', 'x', true, ${after}, mac from audit_entries limit 1`,
      [id],
    );
    await fill(1);
    expect((await api.ok(calls.verify)).broken).toEqual({ audit_id: id, sequence: 9, problem });
    await server.audit.tick();
    expect(server.audit.state().broken, 'found without being asked').toMatchObject({ audit_id: id });
    expect((await api.ok(calls.list)).entries).toHaveLength(10);
  });

  test('inserted with a seal of its own before the chain is named', async () => {
    await server.pool.query(insert.replace('$2', 'null'), [id]);
    await server.pool.query("insert into audit_seals values (0, $1, '', '', '', now())", [id]);
    await server.pool.query('delete from audit_pending');
    expect((await verify()).broken).toEqual({ audit_id: id, sequence: null, problem });
    await server.audit.tick();
    expect(server.audit.state().broken, 'found without being asked').toMatchObject({ audit_id: id });
  });

  test('inserted around the trigger is named', async () => {
    await behindOurBack(insert.replace('$2', 'null'), [id]);
    await fill(2);
    expect((await verify()).broken).toEqual({ audit_id: id, sequence: null, problem });
  });

  test('cut loose from the chain, whole chain gone, is named', async () => {
    await behindOurBack('delete from audit_seals');
    expect((await verify()).broken).toMatchObject({ sequence: 1 });
    await behindOurBack('delete from audit_head');
    expect((await verify()).whole).toBe(false);
    await fill(1);
    expect((await verify()).whole).toBe(false);
  });

  test('written before entries were signed is fine, but no later one without a mac', async () => {
    const own = await startTestServer();
    await own.pool.query(
      `insert into audit_entries (audit_id, timestamp, event_type, resource_type, changes_summary, success)
       select gen_random_uuid(), '2026-01-01', 'old', 'test', '', true from generate_series(1, 3)`,
    );
    await writeUnguarded(own, 'delete from audit_switch');
    await own.pool.query('update audit_head set unsigned_until = 3, mac = null');
    await own.audit.begin();
    expect(await verifyChain(own.db, own.auditKeys)).toMatchObject({ whole: true, unsealedEntries: 3 });
    await makeCustomer(own.api(await own.signInAs('admin')));
    await seal(own);
    expect(await verifyChain(own.db, own.auditKeys)).toMatchObject({ whole: true, checkedEntries: 6 });
    await own.pool.query('update audit_head set unsigned_until = 6');
    expect((await verifyChain(own.db, own.auditKeys)).broken!.problem).toBe(
      'The record of where the chain ends was altered.',
    );
  });

  test('signed with a key that is retired still counts', async () => {
    const { current } = server.auditKeys;
    const next = readSigners(newSigningKey(), 'a test')[0]!;
    expect((await verifyChain(server.db, auditKeys(next))).whole).toBe(false);
    expect((await verifyChain(server.db, auditKeys(next, [current.signer]))).whole).toBe(true);
    await makeCustomer(api);
    await sealPending(server.context, auditKeys(next, [current.signer]), server.context.clock);
    expect(await verifyChain(server.db, auditKeys(next, [current.signer]))).toMatchObject({
      whole: true,
      checkedEntries: 9,
    });
  });
});

/** Checks 60 entries at a time, of somewhat more. */
async function watchOfLongChain() {
  await write(server.clock.now(), {}, 70);
  await seal();
  return createChainWatch(server.context, server.auditKeys, 60);
}

test('a long chain is checked in sections, each after the one before', async () => {
  const watch = await watchOfLongChain();
  expect([await watch.tick(), await watch.tick()]).toEqual([false, true]);
  expect(watch.state()).toMatchObject({ state: 'whole' });
  const { audit_id } = await at(65);
  await behindOurBack("update audit_entries set changes_summary = 'y' where audit_id = $1", [audit_id]);
  await watch.tick();
  expect(watch.state()).toMatchObject({ state: 'whole' });
  await watch.tick();
  expect(watch.state()).toMatchObject({ state: 'broken', broken: { audit_id } });
});

test('a break that Verify finds lasts until a complete round finds none, not the rest of one', async () => {
  const watch = await watchOfLongChain();
  expect(await watch.tick()).toBe(false);
  const { audit_id } = await at(10);
  await behindOurBack("update audit_entries set changes_summary = 'y' where audit_id = $1", [audit_id]);
  expect((await watch.verify()).broken).toMatchObject({ audit_id });
  await watch.tick();
  expect(watch.state()).toMatchObject({ state: 'broken', broken: { audit_id }, wholeAt: null });
  await behindOurBack("update audit_entries set changes_summary = 'x' where audit_id = $1", [audit_id]);
  expect([await watch.tick(), await watch.tick()]).toEqual([false, true]);
  expect(watch.state()).toMatchObject({ state: 'whole' });
});

test('nobody changes seals and anchors, whoever asks the database', async () => {
  await fill(2);
  for (const table of ['audit_seals', 'audit_anchors']) {
    await server.pool.query(
      `insert into audit_anchors values (0, '', 0, now(), now(), '', '') on conflict do nothing`,
    );
    for (const statement of [`update ${table} set seal = ''`, `delete from ${table}`, `truncate ${table}`])
      await expect(server.pool.query(statement), statement).rejects.toThrow('are append-only');
  }
});

test('the call verifies all that was written until now', async () => {
  await makeCustomer(api);
  const [one, two] = await Promise.all([api.ok(calls.verify), api.ok(calls.verify)]);
  expect(one).toMatchObject({ whole: true, checkedEntries: 3, unsealedEntries: 0 });
  expect(two).toMatchObject({ whole: true });
  await api.ok(customers.list);
  const { rows } = await sql<{ n: number }>`select count(*) as n from audit_pending`.execute(server.db);
  expect(rows[0]!.n).toBe(0);
});
