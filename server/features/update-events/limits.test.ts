import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { beforeEach, describe, expect, test } from 'vitest';
import { mostEvents, updateEvents as calls } from '../../../contract/update-events.ts';
import {
  enrollOn,
  makeApiKey,
  makeLicense,
  makeRelease,
  unique,
  type MadeApiKey,
} from '../../../tests/factories.ts';
import {
  auditOf,
  eventually,
  hours,
  minutes,
  startTestServer,
  startTwin,
  type Answer,
} from '../../../tests/harness.ts';
import { ask } from '../../../tests/work.ts';
import { machineHashOf } from '../../machine-hash.ts';

const config = {
  eventsPerKeyHour: 100,
  newMachinesPerKeyHour: 30,
  machineRequestsPerHour: 20,
};

let key: MadeApiKey;
const server = await startTestServer({ config });
const twin = await startTwin(server, { config });
const staff = server.api((await server.signInAs('super_admin')).byCookie);
beforeEach(async () => {
  key = await makeApiKey(staff, { scopes: ['updates'], rateLimit: 10_000 });
});

const eventOf = (machineId: string) => ({
  eventId: uuidv7(),
  machineId,
  eventType: 'install_start' as const,
  toVersion: '1.0.0',
});
type Event = ReturnType<typeof eventOf>;

const send = (events: Event[], on = server) => on.api(key).call(calls.report, { body: { events } });
const report = (machineIds: string[], on = server) => send(machineIds.map(eventOf), on);
const many = (count: number) => Array.from({ length: count }, () => unique('machine'));
const statusesOf = (answers: { status: number }[]) => ({
  passed: answers.filter(({ status }) => status === 200).length,
  refused: answers.filter(({ status }) => status === 429).length,
});

const rowsOf = (machineIds: string[]) =>
  server.db
    .selectFrom('machines')
    .select(['total_events', 'total_checks', 'total_downloads'])
    .where(
      'machine_hash',
      'in',
      machineIds.map((id) => Buffer.from(machineHashOf(id), 'hex')),
    )
    .execute();

/** Waits until the events and checks of a machine are written. */
const written = (machineId: string, events: number) =>
  eventually(async () => expect((await rowsOf([machineId]))[0]?.total_events).toBe(events));

const useUpNewMachines = async () => {
  const machineIds = many(config.newMachinesPerKeyHour);
  expect((await report(machineIds)).status).toBe(200);
  return machineIds;
};
const refusalOf = ({ status, body, headers }: Answer<typeof calls.report>) => [
  status,
  body.error,
  headers.get('retry-after'),
];

describe('new machines', () => {
  test('have a budget a key and hour, exact under parallel reports to two processes', async () => {
    const machineIds = many(90);
    const answers = await Promise.all(machineIds.map((id, n) => report([id], n % 2 ? twin : server)));
    expect(statusesOf(answers)).toEqual({ passed: 30, refused: 60 });
    await eventually(async () => expect(await rowsOf(machineIds)).toHaveLength(30));
    const other = await makeApiKey(staff, { scopes: ['updates'] });
    await server.api(other).ok(calls.report, { body: { events: [eventOf(unique('of another key'))] } });
  });

  test('cost one each, however often they are named before they are written', async () => {
    const machineIds = many(30);
    const answers = await Promise.all([0, 1, 2].map(() => report([...machineIds, machineIds[0]!])));
    expect(statusesOf(answers)).toEqual({ passed: 3, refused: 0 });
    expect((await report(many(1))).status).toBe(429);
  });

  test('beyond it have their report refused whole, which loses nothing; known ones never', async () => {
    const [known] = await useUpNewMachines();
    const batch = [eventOf(known!), eventOf(unique('new'))];
    expect(refusalOf(await send(batch))).toEqual([
      429,
      'The API key may name 30 new machines an hour, and fewer than the 1 of this report are left. Nothing of it was taken; send it again later.',
      '1800',
    ]);
    await written(known!, 1);
    expect((await report([known!], twin)).status, 'a process that has not seen the machine').toBe(200);
    expect((await report([known!])).status).toBe(200);
    await written(known!, 3);
    server.clock.advance(hours(1));
    expect((await send(batch)).status).toBe(200);
    await written(known!, 4);
    server.clock.set('2026-11-20T09:30:00.000Z');
  });

  test('more than it in one report are taken in an hour of which nothing is used', async () => {
    const relayed = many(config.newMachinesPerKeyHour + 1);
    await report(many(1));
    expect(refusalOf(await report(relayed))).toEqual([
      429,
      'The API key may name 30 new machines an hour, and fewer than the 31 of this report are left. Nothing of it was taken; send it again later.',
      '1800',
    ]);
    server.clock.advance(hours(1));
    expect((await report(relayed)).status).toBe(200);
    expect((await report(many(1))).status).toBe(429);
    server.clock.set('2026-11-20T09:30:00.000Z');
  });

  test('beyond it are answered by the feeds and served files as ever, and not recorded', async () => {
    const release = await makeRelease(server);
    const feed = `${server.url}/api/v1/updates/electron/win32/x64/latest.yml`;
    const get = async (url: string, machineId: string) => {
      const answer = await fetch(url, { headers: { ...key.headers, 'x-machine-id': machineId } });
      return [answer.status, await answer.text()];
    };
    const file = server.url + new URL(release.fileUrl).pathname;
    const first = unique('by a feed');
    await get(feed, first);
    await eventually(async () => expect((await rowsOf([first]))[0]?.total_checks).toBe(1));
    expect((await report(many(29))).status, 'a feed names new machines as well').toBe(200);

    const unknown = unique('unknown');
    expect(await get(feed, unknown)).toEqual(await get(feed, first));
    expect(await get(file, unknown)).toEqual(await get(file, first));
    await eventually(async () =>
      expect(await rowsOf([first])).toMatchObject([{ total_checks: 2, total_downloads: 1 }]),
    );
    expect(await rowsOf([unknown])).toEqual([]);
  });

  test('are not counted for staff, who are known themselves', async () => {
    const events = many(40).map(eventOf);
    expect(await staff.ok(calls.report, { body: { events } })).toEqual({ accepted: 40 });
  });
});

describe('events', () => {
  test('have a budget a key and hour, exact under parallel reports to two processes', async () => {
    const machineIds = await useUpNewMachines();
    // known to the other process too, which would count a new machine
    await written(machineIds[0]!, 1);
    const answers = await Promise.all(
      many(160).map((_, n) => report([machineIds[0]!], n % 2 ? twin : server)),
    );
    expect(statusesOf(answers)).toEqual({ passed: 70, refused: 90 });
    await written(machineIds[0]!, 71);
  });

  test('are not lost when the database takes long to grant them', async () => {
    const [known] = await useUpNewMachines();
    await written(known!, 1);
    const { waiting } = await server.db.transaction().execute(async (tx) => {
      const granted = tx.selectFrom('budget_hours').select('granted').where('subject', '=', key.id);
      await granted.where('budget', '=', 'events').forUpdate().executeTakeFirstOrThrow();
      const asked = report([known!], twin);
      // longer than a process keeps units that it does not use
      await sleep(1500);
      return { waiting: asked };
    });
    expect((await waiting).status).toBe(200);
    const answers = await Promise.all(many(80).map(() => report([known!], twin)));
    expect(statusesOf(answers)).toEqual({ passed: 69, refused: 11 });
  });

  test('of a report are all taken or none, and a smaller one may still fit', async () => {
    const batch = many(7);
    const answers = await Promise.all(many(20).map(() => report(batch)));
    expect(statusesOf(answers)).toEqual({ passed: 14, refused: 6 });
    expect(refusalOf(await report(batch))).toEqual([
      429,
      'The API key may report 100 events an hour, and fewer than the 7 of this report are left. Nothing of it was taken; send it again later.',
      '1800',
    ]);
    expect((await report(batch.slice(0, 2))).status).toBe(200);
    expect((await report(batch.slice(0, 1))).status).toBe(429);
    await written(batch[0]!, 15);
    server.clock.advance(minutes(30));
    expect((await report(batch)).status).toBe(200);
    server.clock.set('2026-11-20T09:30:00.000Z');
  });
});

test('a machine may send the largest report each hour, however few requests it may make', async () => {
  const machine = server.api(await enrollOn(server, await makeLicense(staff), unique('Offline')));
  const reportOf = (count: number) => {
    const events = many(count).map((eventId) => ({ ...eventOf(eventId), machineId: undefined }));
    return machine.call(calls.report, { body: { events } });
  };
  expect((await reportOf(mostEvents)).status).toBe(200);
  const more = await reportOf(1);
  expect([more.status, more.body.error]).toEqual([
    429,
    expect.stringContaining(`The machine may report ${mostEvents} events an hour`),
  ]);
  server.clock.advance(hours(1));
  expect((await reportOf(mostEvents)).status).toBe(200);
  server.clock.set('2026-11-20T09:30:00.000Z');
});

test('staff are told once a key, hour and budget, and the metric counts each refusal', async () => {
  const [known] = await useUpNewMachines();
  const refusals = async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return ['events', 'new machines'].map((budget) =>
      Number(
        new RegExp(`^lanyard_budget_refusals_total{budget="${budget}"} (\\d+)$`, 'm').exec(text)?.[1] ?? 0,
      ),
    );
  };
  const before = await refusals();
  const told = async () =>
    (await auditOf(server, key.id))
      .filter(({ event_type }) => event_type === 'api_key.limit_reached')
      .map(({ changes_summary, success }) => [changes_summary, success]);
  const newMachines = [`API key ${key.name}: reached its limit of 30 new machines an hour`, false];
  const events = [`API key ${key.name}: reached its limit of 100 events an hour`, false];

  await Promise.all(many(6).map((id, n) => report([id], n % 2 ? twin : server)));
  expect(await told()).toEqual([newMachines]);
  expect((await report(many(70).map(() => known!))).status).toBe(200);
  await Promise.all(many(6).map((_, n) => report([known!], n % 2 ? twin : server)));
  expect(await told()).toEqual([newMachines, events]);
  expect(await refusals()).toEqual([before[0]! + 3, before[1]! + 3]);

  server.clock.advance(hours(1));
  await useUpNewMachines();
  expect((await report(many(1))).status).toBe(429);
  expect(await told()).toEqual([newMachines, events, newMachines]);
  server.clock.set('2026-11-20T09:30:00.000Z');
});

test('what was not used of a block is given back once, and one batch after the other, also where the database is slow', async () => {
  const lone = await startTestServer();
  const admin = lone.api((await lone.signInAs('super_admin')).byCookie);
  const used = await Promise.all(
    ['a', 'b', 'c', 'd'].map(() => makeApiKey(admin, { scopes: ['updates'], rateLimit: 10_000 })),
  );
  // three of them together longer than between two looks at what is idle
  await ask(
    lone.database.url,
    `create table seen (at_once bigint);
     create function slow() returns trigger language plpgsql as $$
       begin
         perform pg_sleep(0.4);
         insert into seen select count(*) from pg_stat_activity
           where datname = current_database() and state = 'active' and query like 'update budget%';
         return new;
       end $$;
     create trigger slow before update on budget_hours for each row
       when (new.budget = 'requests' and new.granted < old.granted) execute function slow()`,
  );
  const use = (one: MadeApiKey) => lone.api(one).call(calls.report, { body: { events: [eventOf('m')] } });
  await Promise.all(used.slice(1).map(use));
  await sleep(600);
  await use(used[0]!);
  const granted = () =>
    ask(lone.database.url, `select granted from budget_hours where budget = 'requests' order by 1`);
  const givingBack = () =>
    ask(
      lone.database.url,
      `select from pg_stat_activity
        where datname = current_database() and state = 'active' and query like 'update budget%'`,
    );
  await eventually(async () => (await granted()).every((row) => Number(row['granted']) <= 1));
  await eventually(async () => (await givingBack()).length === 0);
  expect(await granted()).toEqual(used.map(() => ({ granted: 1 })));
  expect(await ask(lone.database.url, 'select at_once from seen')).toEqual(used.map(() => ({ at_once: 1 })));
});
