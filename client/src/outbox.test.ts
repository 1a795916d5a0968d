import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { NoReply, Reply } from './http.ts';
import { createOutbox, type Outbox, type OutboxEvent } from './outbox.ts';
import { newFolder } from '../../tests/place.ts';

let folder: string;
/** What the service counted: an id counts once. */
let counted: Map<string, number>;
let batches: number[];
const open: Outbox[] = [];
beforeEach(async () => {
  folder = await newFolder();
  counted = new Map();
  batches = [];
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((outbox) => outbox.stop()));
});

const event = (n = 0): OutboxEvent => ({
  eventId: randomUUID(),
  timestamp: new Date(Date.UTC(2026, 10, 20) + n).toISOString(),
  eventType: 'download_start',
});
const reply = (status: number, body: unknown, retryAfter?: number): Reply => ({
  status,
  text: typeof body === 'string' ? body : JSON.stringify(body),
  retryAfter,
});
const accept = (events: OutboxEvent[]): Promise<Reply> => {
  batches.push(events.length);
  for (const { eventId } of events) counted.set(eventId, (counted.get(eventId) ?? 0) + 1);
  return Promise.resolve(reply(200, { success: true, data: { accepted: events.length } }));
};
function openOutbox(send: (events: OutboxEvent[]) => Promise<Reply | NoReply> = accept): Outbox {
  const outbox = createOutbox(folder, send);
  open.push(outbox);
  return outbox;
}
const offline = () => Promise.resolve({ problem: 'offline' });
const added = (outbox: Outbox, count: number): string[] =>
  Array.from({ length: count }, (_, n) => event(n)).map((one) => {
    expect(outbox.add(one)).toBe(true);
    return one.eventId;
  });

test('an event is on the disk before add returns, is sent once and then removed', async () => {
  const outbox = openOutbox();
  const [id] = added(outbox, 1);
  expect(readdirSync(folder)).toEqual([`${id}.json`]);
  expect(await outbox.deliver()).toEqual({ waiting: 0 });
  await outbox.deliver();
  expect([...counted]).toEqual([[id, 1]]);
  expect(readdirSync(folder)).toEqual([]);
});

test('what waited is sent by itself after the next start, without a further call', async () => {
  const ids = added(openOutbox(offline), 3);
  await open.splice(0)[0]!.stop();
  openOutbox();
  await expect.poll(() => [...counted.keys()].toSorted()).toEqual(ids.toSorted());
});

test('batches hold 500 events and half a megabyte at most, the oldest first', async () => {
  const outbox = openOutbox(offline);
  const ids = added(outbox, 700);
  await outbox.stop();
  const order: string[] = [];
  const second = openOutbox((events) => {
    order.push(...events.map(({ eventId }) => eventId));
    return accept(events);
  });
  expect(await second.deliver()).toEqual({ waiting: 0 });
  expect(batches).toEqual([500, 200]);
  expect(order).toEqual(ids);

  batches = [];
  for (let n = 0; n < 10; n++) second.add({ ...event(n), errorMessage: 'ü'.repeat(50_000) });
  await expect.poll(() => second.deliver()).toEqual({ waiting: 0 });
  expect(Math.max(...batches)).toBe(4);
});

test.each<[string, Reply | NoReply]>([
  ['no answer', { problem: 'offline' }],
  ['the sign-in page of a hotel', reply(200, '<html>Welcome</html>')],
  ['the 200 of another program', reply(200, { success: true, data: [] })],
  ['a token of another machine', reply(403, { success: false, code: 'FORBIDDEN' })],
  ['the 403 of a proxy', reply(403, '<html>Blocked</html>')],
  ['the 400 of a proxy', reply(400, { message: 'Bad request' })],
  ['a token that ended', reply(401, { success: false, code: 'NOT_AUTHENTICATED' })],
  ['a limit', reply(429, { success: false, code: 'TOO_MANY_REQUESTS' }, 60)],
  ['a stop of the service', reply(503, { success: false, code: 'UNAVAILABLE' })],
])('%s decides nothing: the events wait', async (_, answer) => {
  const send = vi.fn(() => Promise.resolve(answer));
  const outbox = openOutbox(send);
  const ids = added(outbox, 2);
  expect(await outbox.deliver()).toEqual({ waiting: 2 });
  expect(readdirSync(folder).toSorted()).toEqual(ids.map((id) => `${id}.json`).toSorted());
});

test('an event that the service will never take is lost alone', async () => {
  const bad = new Set<string>();
  const outbox = openOutbox((events) =>
    events.some(({ eventId }) => bad.has(eventId))
      ? Promise.resolve(reply(400, { success: false, code: 'INVALID_INPUT' }))
      : accept(events),
  );
  const ids = Array.from({ length: 40 }, (_, n) => event(n)).map((one, n) => {
    if (n % 13 === 5) bad.add(one.eventId);
    outbox.add(one);
    return one.eventId;
  });
  expect(await outbox.deliver()).toEqual({ waiting: 0 });
  expect([...counted.keys()].toSorted()).toEqual(ids.filter((id) => !bad.has(id)).toSorted());
  expect([...counted.values()].every((times) => times === 1)).toBe(true);
});

test('waits longer after each failure, at least as long as the service says, and an hour at most', async () => {
  let answer: Reply | NoReply = { problem: 'offline' };
  const outbox = openOutbox(() => Promise.resolve(answer));
  outbox.add(event());
  const timers = vi.spyOn(globalThis, 'setTimeout');
  /** When it tries again after each of some failures, in seconds. */
  const waits = async (count: number) => {
    timers.mockClear();
    for (let n = 0; n < count; n++) await outbox.deliver();
    return timers.mock.calls.map(([, ms]) => ms! / 1000);
  };
  try {
    const doubling = await waits(20);
    for (const [n, wait] of doubling.entries()) {
      expect(wait).toBeGreaterThanOrEqual(Math.min(5 * 2 ** n, 3600) / 2);
      expect(wait).toBeLessThanOrEqual(Math.min(5 * 2 ** n, 3600));
    }
    expect(doubling).toHaveLength(20);
    answer = reply(429, { success: false }, 999_999);
    expect(await waits(1)).toEqual([3600]);
    // a service without its database says one second to each machine, however often it asks
    for (const seconds of [0, 1]) {
      answer = reply(503, { success: false }, seconds);
      for (const wait of await waits(3)) expect(wait).toBeGreaterThanOrEqual(1800);
    }
    // a new event does not hurry it
    timers.mockClear();
    outbox.add(event(1));
    expect(timers).not.toHaveBeenCalled();
    answer = reply(200, { success: true, data: { accepted: 2 } });
    expect(await outbox.deliver()).toEqual({ waiting: 0 });
    answer = reply(429, { success: false }, 600);
    outbox.add(event(2));
    expect(await waits(1)).toEqual([600]);
  } finally {
    timers.mockRestore();
  }
});

test('a full outbox says so, and keeps what it accepted', async () => {
  const outbox = openOutbox(offline);
  const ids = added(outbox, 1000);
  expect(outbox.add(event(5000))).toBe(false);
  await outbox.stop();
  open.length = 0;
  const next = openOutbox();
  await next.deliver();
  expect([...counted.keys()].toSorted()).toEqual(ids.toSorted());
  expect(next.add(event())).toBe(true);
});

test('a folder that cannot be written is told, and throws nothing', async () => {
  rmSync(folder, { recursive: true });
  writeFileSync(folder, 'a file');
  const outbox = openOutbox();
  expect(outbox.add(event())).toBe(false);
  expect(await outbox.deliver()).toEqual({ waiting: 0 });
});

test('a copy of a file under another name is removed, and not sent again and again', async () => {
  writeFileSync(join(folder, 'copy.json'), JSON.stringify(event()));
  expect(await openOutbox().deliver()).toEqual({ waiting: 0 });
  expect(readdirSync(folder)).toEqual([]);
  expect(batches).toEqual([]);
});

test('two processes of one program use it at once: nothing is lost, and each event counts once by its id', async () => {
  const outboxes = [openOutbox(), openOutbox()];
  const ids: string[] = [];
  for (let round = 0; round < 20; round++) {
    for (const outbox of outboxes) ids.push(...added(outbox, 2));
    await Promise.all(outboxes.map((outbox) => outbox.deliver()));
  }
  expect([...counted.keys()].toSorted()).toEqual(ids.toSorted());
  expect(readdirSync(folder)).toEqual([]);
});

test('cut off at any byte, a file or its draft takes no other event with it', async () => {
  const outbox = openOutbox(offline);
  const before = added(outbox, 2);
  const cut = event(9);
  outbox.add(cut);
  await outbox.stop();
  open.length = 0;
  const file = join(folder, `${cut.eventId}.json`);
  const bytes = readFileSync(file);
  rmSync(file);
  const kept = before.map((id) => ({ name: `${id}.json`, bytes: readFileSync(join(folder, `${id}.json`)) }));
  for (let length = 0; length <= bytes.length; length++) {
    for (const draft of [true, false]) {
      counted.clear();
      for (const one of kept) writeFileSync(join(folder, one.name), one.bytes);
      const path = draft ? `${file}.1.new` : file;
      writeFileSync(path, bytes);
      truncateSync(path, length);
      const next = createOutbox(folder, accept);
      const late = event(10);
      expect(next.add(late)).toBe(true);
      expect(await next.deliver()).toEqual({ waiting: 0 });
      await next.stop();
      const whole = !draft && length === bytes.length;
      const expected = [...before, late.eventId, ...(whole ? [cut.eventId] : [])];
      expect([...counted.keys()].toSorted(), `${length} bytes`).toEqual(expected.toSorted());
      expect(readdirSync(folder).filter((name) => name.endsWith('.json'))).toEqual([]);
      rmSync(path, { force: true });
    }
  }
});
