import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { audit as calls } from '../../../contract/audit.ts';
import { auditRoom } from '../../../tests/audit-room.ts';
import { makeCustomer } from '../../../tests/factories.ts';
import {
  days,
  startTestServer,
  startTwin,
  type Api,
  type TestServer,
  checkedTime,
} from '../../../tests/harness.ts';
import { isFailure } from '../../failure.ts';
import { keepRetention } from '../../jobs/audit-retention.ts';
import { acceptGaps } from './accept.ts';
import { oldHeadText } from './chain.ts';
import { headPlaces } from './kept-heads.ts';
import { macOf } from './keys.ts';

/** Every row of the table of attacks in docs/decisions/016-audit-chain.md. */

let server: TestServer;
let api: Api;
const logged: string[] = [];
beforeEach(async () => {
  logged.length = 0;
  server = await startTestServer({ config: { logLevel: 'error' }, onLog: (line) => logged.push(line) });
  api = server.api(await server.signInAs('super_admin'));
  await fill(4);
});

/** After the start there are 6 entries. */
const { fill, asWriter, asOwner, head, putBackTo } = auditRoom(() => ({ server, api }));

const verify = (on = server) => on.audit.verify();
const problemOf = async () => (await verify()).broken?.problem;
const kept = async (on = server) =>
  JSON.parse(await readFile(join(on.context.config.dataDir, 'audit-head.json'), 'utf8')) as {
    sequence: number;
  };
const places = () => headPlaces(server.context.config, server.context.storage);
const accept = () =>
  acceptGaps(server.context, server.auditKeys, places(), {
    reason: 'Restored the backup of 20 November',
    now: server.clock.now(),
  });
async function expectNotAccepted(why: string | RegExp): Promise<void> {
  const refused = await accept();
  expect(isFailure(refused) && refused.message).toMatch(why);
}

/** Entries of which a restored backup knows nothing; returns its head. */
async function lose(entries: number) {
  const old = await head();
  await fill(entries);
  await putBackTo(old);
  return old;
}

const emptied = [
  'delete from audit_entries',
  'delete from audit_seals',
  'delete from audit_pending',
  "update audit_head set sequence = 0, mac = null, seal = decode(repeat('00', 32), 'hex'), unsigned_until = 1000",
];
const invented = `insert into audit_entries (audit_id, timestamp, event_type, resource_type, changes_summary, success)
  select gen_random_uuid(), now(), 'license.created', 'license', 'Nothing to see', true from generate_series(1, 20)`;

describe('history replaced', () => {
  test('head back to 0 without a mac, and a history inserted again, is a break for every process', async () => {
    await asOwner(...emptied);
    await server.pool.query(invented);
    expect(await problemOf()).toBe(
      'The entries 1 to 6 of the chain were removed from the database, together with the seals.',
    );
    await fill(1);
    expect((await verify()).whole).toBe(false);
    // a process that keeps no head yet
    const twin = await startTwin(server);
    expect((await verify(twin)).whole).toBe(false);
  });

  test('the same with the sign removed that a first head was made: the kept head tells', async () => {
    await asOwner(...emptied, 'delete from audit_switch');
    await server.pool.query(invented);
    await server.audit.begin();
    expect((await verify()).whole).toBe(false);
    await fill(1);
    expect((await verify()).whole).toBe(false);
    expect((await kept()).sequence).toBe(6);
    // nobody makes it a history by accepting that entries are missing
    await expectNotAccepted(/^This cannot be accepted: The entry was not written/);
  });

  test('entries excused by hand as older than their macs are not excused, nor can they be accepted', async () => {
    await server.pool.query(invented);
    await server.audit.seal();
    await asOwner('update audit_head set unsigned_until = 1000');
    expect((await verify()).whole).toBe(false);
    await expectNotAccepted(/^This cannot be accepted: The entry was not written/);
  });

  test('a missing mac is a break, whatever the head says', async () => {
    await asOwner('update audit_head set mac = null');
    expect(await problemOf()).toBe('The record of where the chain ends was altered.');
    await server.audit.tick();
    expect(server.audit.state(), 'found without being asked').toMatchObject({ state: 'broken' });
    await asOwner('delete from audit_head');
    expect(await problemOf()).toBe('The record of where the chain ends was altered.');
  });

  test('a missing mac stays a break when sealing goes on, and keeps the cleanup from removing', async () => {
    await asOwner('update audit_head set mac = null');
    server.clock.advance(days(800));
    expect(await keepRetention(server.context, checkedTime(server), server.audit)).toBe(0);
    api = server.api(await server.signInAs('super_admin'));
    await fill(1);
    expect(await problemOf()).toMatch(/^Entry 7 of the chain was removed/);
  });

  test('an older head put back alone is a break', async () => {
    const { sequence, seal, mac } = await head();
    await fill(2);
    await asOwner(
      `update audit_head set sequence = ${sequence}, seal = '\\x${seal.toString('hex')}', mac = '\\x${mac!.toString('hex')}'`,
    );
    expect(await problemOf()).toBe('The record of where the chain ends was altered.');
    await fill(1);
    expect(await verify(), 'sealing goes on').toMatchObject({ whole: false, unsealedEntries: 0 });
  });

  test('the chain of a copy as long as ours is a break by the head alone, where no head is kept', async () => {
    const old = await head();
    await fill(2);
    const ours = await head();
    const fork = await startTwin(server);
    await putBackTo(old);
    for (let n = 0; n < 2; n++) await makeCustomer(api);
    await fork.audit.seal();
    await fork.close();
    await rm(join(server.context.config.dataDir, 'audit-head.json'));
    await asOwner(
      `update audit_head set seal = '\\x${ours.seal.toString('hex')}', mac = '\\x${ours.mac!.toString('hex')}'`,
    );
    expect(await problemOf()).toBe('The record of where the chain ends was altered.');
  });

  test('the tail cut off and an older head put back with its own mac is a break, also when sealing goes on', async () => {
    await lose(3);
    expect((await kept()).sequence).toBe(9);
    expect(await problemOf()).toBe(
      'The database was put back to an earlier state: the entries 7 to 9 of the chain had been sealed, as the head in the data directory says, and can no longer be found.',
    );
    await fill(5);
    await server.audit.tick();
    expect(await problemOf()).toMatch(/^The entries 7 to 9 of the chain were removed/);
    expect((await kept()).sequence, 'never goes back, nor on with what is not the chain').toBe(9);
  });

  test('the chain of a copy of this installation, put in the place of ours, is a break', async () => {
    const old = await head();
    await fill(2);
    const fork = await startTwin(server);
    await putBackTo(old);
    // the copy has the same keys and knows nothing of what was kept here
    for (let n = 0; n < 5; n++) await makeCustomer(api);
    await fork.audit.seal();
    expect((await verify(fork)).whole).toBe(true);
    expect(await problemOf()).toBe(
      'The chain was rewritten: at place 8 it is not the one whose head is kept in the data directory.',
    );
  });

  test('the macs of two entries exchanged is a break', async () => {
    await asOwner(`update audit_entries e set mac = o.mac from audit_entries o
      where (e.audit_id, o.audit_id) in (
        select a.audit_id, b.audit_id from audit_seals a, audit_seals b where (a.sequence, b.sequence) in ((2, 3), (3, 2)))`);
    expect((await verify()).broken).toMatchObject({ sequence: 2 });
  });

  test('a kept head that is not ours is a break', async () => {
    const [place] = places();
    await place.write({ ...(await head()), mac: Buffer.alloc(32, 7) }, new Date());
    expect(await problemOf()).toBe(
      'The head of the chain that is kept in the data directory was not made by this installation.',
    );
  });
});

describe('rows that some queries do not see', () => {
  test.each([
    ['audit_entries', 'alter table audit_entries enable row level security'],
    ['audit_entries', 'alter table audit_entries force row level security'],
    ['audit_entries', 'create table more_entries () inherits (audit_entries)'],
    ['audit_seals', 'create rule no_seals as on update to audit_seals do instead nothing'],
    ['audit_pending', 'alter table audit_pending enable row level security'],
    ['audit_head', 'create table other_head () inherits (audit_head)'],
    ['audit_anchors', 'alter table audit_anchors force row level security'],
    ['audit_entries', 'alter table audit_entries drop constraint audit_entries_pkey'],
    [
      'audit_seals',
      'alter table audit_seals drop constraint audit_seals_pkey, add unique (sequence, sealed_at)',
      'alter table audit_seals add primary key (audit_id)',
    ],
    [
      'audit_entries',
      'alter table audit_entries rename to entries',
      'create view audit_entries as select * from entries where success',
    ],
  ])('in %s are a break: %s', async (table, ...statements) => {
    await asOwner(...statements);
    const problem = `The table ${table} was altered: not every query reads the same rows from it.`;
    expect(await problemOf()).toBe(problem);
    await server.audit.tick();
    expect(server.audit.state().broken?.problem, 'found without being asked').toBe(problem);
  });

  test.each([
    ["made_at = 'infinity'"],
    ['made_at = null', 'alter table audit_anchors alter made_at drop not null'],
    ['signature = null', 'alter table audit_anchors alter signature drop not null'],
    ['seal = null', 'alter table audit_anchors alter seal drop not null'],
  ])('an anchor with %s is a break', async (change, ...statements) => {
    server.clock.advance(days(800));
    api = server.api(await server.signInAs('super_admin'));
    await fill(1);
    expect(await keepRetention(server.context, checkedTime(server), server.audit)).toBeGreaterThan(0);
    await asOwner(...statements, `update audit_anchors set ${change}`);
    expect(await problemOf()).toMatch(
      /^The anchor of .*cleanup .*(is not signed by this installation|was altered)\.$/,
    );
    await server.audit.tick();
    expect(server.audit.state().state, 'found without being asked').toBe('broken');
  });

  test('are no break once a rule or an inheriting table is gone', async () => {
    await asOwner(
      'create table more_entries () inherits (audit_entries)',
      'drop table more_entries',
      'create rule no_seals as on update to audit_seals do instead nothing',
      'drop rule no_seals on audit_seals',
    );
    expect((await verify()).whole).toBe(true);
  });
});

describe('the retention switch', () => {
  test.each([
    ["select set_config('lanyard.audit_retention', 'on', false)"],
    ["select set_config('lanyard.audit_retention', encode(opened_by, 'hex'), false) from audit_switch"],
    [
      'create temporary table audit_switch (only_row boolean, opened_by bytea)',
      "insert into audit_switch values (true, sha256('on'))",
      "select set_config('lanyard.audit_retention', 'on', false)",
    ],
    [
      "update audit_switch set opened_by = sha256('on')",
      "select set_config('lanyard.audit_retention', 'on', false)",
    ],
    ['delete from audit_switch'],
  ])('is not opened by who can only write rows: %s', async (...statements) => {
    for (const table of ['audit_entries', 'audit_seals'])
      await expect(asWriter(...statements, `delete from ${table}`)).rejects.toThrow('append-only');
    expect(await verify()).toMatchObject({ whole: true, checkedEntries: 6 });
  });

  test.each([95, 90])(
    'a retention that was lowered in the database to 90 removes nothing until it is set to %s',
    async (value) => {
      server.clock.advance(days(100));
      api = server.api(await server.signInAs('super_admin'));
      await asWriter('update audit_settings set retention_days = 90');
      expect(await keepRetention(server.context, checkedTime(server), server.audit)).toBe(0);
      expect(logged.join()).toContain('The retention in the database is not the one that was set in Lanyard');
      expect((await api.call(calls.cleanup)).status).toBe(409);
      for (let n = 0; n < 2; n++)
        await api.ok(calls.setConfig, { params: { key: 'retentionDays' }, body: { value } });
      expect((await api.ok(calls.cleanup)).removed).toBe(6);
      expect((await verify()).whole).toBe(true);
      const { entries } = await api.ok(calls.list, { query: { eventType: 'audit.config_changed' } });
      expect(entries.map((entry) => entry.changes_summary)).toEqual([
        `Audit log: retentionDays: 730 → ${value}`,
      ]);
    },
  );

  test('an entry of a lower retention that was written by hand sets none', async () => {
    await server.pool.query(
      `insert into audit_entries (audit_id, timestamp, event_type, resource_type, changes_summary, success, after)
       values (gen_random_uuid(), now(), 'audit.config_changed', 'audit', 'x', true, '{"retentionDays": 90}')`,
    );
    await server.audit.seal();
    expect(await head()).toMatchObject({ sequence: 7, retention_days: 730 });
  });

  test('that the owner of the database exchanged lets nothing be removed, and the log says so', async () => {
    await asOwner("update audit_switch set opened_by = sha256('on')");
    server.clock.advance(days(800));
    expect(await keepRetention(server.context, checkedTime(server), server.audit)).toBe(0);
    expect(logged.join()).toContain('The retention switch of the database was not made by this installation');
  });

  test('a chain that was put back is not cleaned up', async () => {
    await lose(2);
    server.clock.advance(days(800));
    expect(await keepRetention(server.context, checkedTime(server), server.audit)).toBe(0);
    expect(logged.join()).toContain('Nothing was removed. The database was put back to an earlier state');
  });
});

describe('a restored backup', () => {
  test('is accepted by the operator, with an entry; then the chain is whole, in every process', async () => {
    const twin = await startTwin(server);
    await twin.audit.tick();
    const old = await head();
    await fill(3);
    await twin.audit.tick();
    expect((await kept(twin)).sequence).toBe(9);
    await putBackTo(old);
    expect((await verify()).whole).toBe(false);
    expect(await accept()).toEqual({
      summary:
        'Audit log: accepted that entries are missing (numbers 7 to 9): Restored the backup of 20 November',
      notKept: [],
    });
    expect(await verify()).toMatchObject({ whole: true, acceptedGaps: 1 });
    expect(await verify(twin)).toMatchObject({ whole: true });
    await fill(2);
    await twin.audit.tick();
    expect(await verify(twin)).toMatchObject({ whole: true, checkedEntries: 9 });
    const [entry] = (await api.ok(calls.list, { query: { eventType: 'audit.gap_accepted' } })).entries;
    expect(entry).toMatchObject({
      user_email: 'system',
      changes_summary: expect.stringContaining('20 November'),
    });
    // what was accepted once excuses nothing else
    await lose(2);
    expect(await problemOf()).toMatch(
      /^The database was put back to an earlier state: the entries 13 to 14 /,
    );
    expect(await accept(), 'a second time, only what is missing now').toMatchObject({
      summary:
        'Audit log: accepted that entries are missing (numbers 13 to 14): Restored the backup of 20 November',
    });
    expect(await verify()).toMatchObject({ whole: true, acceptedGaps: 2 });
    await putBackTo(old);
    expect((await verify()).whole).toBe(false);
  });

  test('once accepted excuses no wider gap behind the same entry', async () => {
    await lose(3);
    await accept();
    await fill(2);
    // back once more, but with the entry that accepts: it waits for a seal again
    await asOwner(
      `delete from audit_entries where event_type <> 'audit.gap_accepted'
        and audit_id not in (select audit_id from audit_seals where sequence <= 6)`,
      'delete from audit_seals where sequence > 6',
      'delete from audit_pending',
      "insert into audit_pending (audit_id) select audit_id from audit_entries where event_type = 'audit.gap_accepted'",
    );
    await fill(1);
    await rm(join(server.context.config.dataDir, 'audit-head.json'));
    expect(await problemOf()).toMatch(/^The entries 7 to \d+ of the chain were removed/);
  });

  test('is not accepted by an entry that was written by hand, nor does the kept head move', async () => {
    const old = await lose(3);
    const gap = { after: 6, seal: old.seal.toString('hex'), until: 9 };
    await server.pool.query(
      `insert into audit_entries (audit_id, timestamp, event_type, resource_type, changes_summary, success, after)
       values (gen_random_uuid(), now(), 'audit.gap_accepted', 'audit', 'x', true, $1)`,
      [JSON.stringify({ gaps: [gap] })],
    );
    await server.audit.seal();
    await server.audit.tick();
    expect(server.audit.state()).toMatchObject({ state: 'broken' });
    expect((await kept()).sequence).toBe(9);
  });

  test('is accepted also when the server went on with it before', async () => {
    await lose(3);
    await fill(2);
    expect((await verify()).whole).toBe(false);
    await accept();
    expect(await verify()).toMatchObject({ whole: true, acceptedGaps: 1 });
  });

  test('an entry that was altered cannot be accepted, and a whole chain needs nothing', async () => {
    await expectNotAccepted('Nothing is missing from the chain.');
    await asOwner(
      "update audit_entries set changes_summary = 'x' where audit_id in (select audit_id from audit_seals where sequence = 3)",
    );
    await expectNotAccepted('This cannot be accepted: The entry was altered after it was written.');
  });
});

describe('no false alarm', () => {
  test('several processes with data directories of their own', async () => {
    const twin = await startTwin(server);
    for (const one of [server, twin, server, twin]) {
      await makeCustomer(api);
      await one.audit.seal();
      expect(await verify(server)).toMatchObject({ whole: true });
      expect(await verify(twin)).toMatchObject({ whole: true });
    }
    await Promise.all([server, twin, server, twin].map((one) => one.audit.tick()));
    expect([(await kept()).sequence, (await kept(twin)).sequence]).toEqual([
      (await head()).sequence,
      (await head()).sequence,
    ]);
  });

  test('a cleanup beyond the kept head of a process that was away', async () => {
    const twin = await startTwin(server);
    await twin.audit.tick();
    await fill(3);
    server.clock.advance(days(800));
    expect(await keepRetention(server.context, checkedTime(server), server.audit)).toBe(9);
    expect(await verify(twin)).toMatchObject({ whole: true, anchors: 1 });
  });

  test('a chain of the version before is taken over once, with an entry', async () => {
    const { sequence, seal, unsigned_until } = await head();
    const mac = macOf(server.auditKeys.current.seal, oldHeadText({ sequence, seal, unsigned_until }));
    await asOwner(
      'delete from audit_switch',
      `update audit_head set retention_days = 0, mac = '\\x${mac.toString('hex')}'`,
    );
    const next = await startTwin(server);
    const last = await next.db
      .selectFrom('audit_entries')
      .select('changes_summary')
      .orderBy('audit_id', 'desc')
      .limit(1)
      .executeTakeFirst();
    expect(last!.changes_summary).toBe(
      'Audit log: from entry 6 on, the end of the chain is kept outside of the database too',
    );
    expect(await verify(next)).toMatchObject({ whole: true });
    expect(await verify()).toMatchObject({ whole: true, checkedEntries: 7 });
    await next.close();
    // the old form does not count a second time
    await asOwner(`update audit_head set mac = '\\x${mac.toString('hex')}', sequence = 6`);
    expect((await verify()).whole).toBe(false);
  });
});

describe('a break is told', () => {
  const metric = async () =>
    /^lanyard_audit_chain_broken (\d)/m.exec(await (await fetch(`${server.url}/metrics`)).text())![1];

  test('by the state, one line of the log and a metric, within a round', async () => {
    expect(await server.audit.tick()).toBe(true);
    expect(await api.ok(calls.chain)).toMatchObject({
      state: 'whole',
      sequence: 6,
      broken: null,
      kept: [{ place: 'the data directory', sequence: 6 }],
    });
    expect(await metric()).toBe('0');
    await asOwner(
      "update audit_entries set changes_summary = 'x' where audit_id in (select audit_id from audit_seals where sequence = 3)",
    );
    await server.audit.tick();
    await server.audit.tick();
    expect(await api.ok(calls.chain)).toMatchObject({ state: 'broken', broken: { sequence: 3 } });
    expect(await metric()).toBe('1');
    expect(
      logged.filter((line) => line.includes('The audit log is broken: The entry was altered')),
    ).toHaveLength(1);
  });
});
