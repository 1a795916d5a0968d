import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, eventually } from '../../tests/harness.ts';
import { createWriteBehind, type WriteBehind } from './write-behind.ts';
import { createDb, createPool, type WritableDb } from './client.ts';
import { quick } from './limits.ts';
import { batchOf, openJournal, type Journal } from './journal.ts';
import { databaseFailure, databaseUnavailable } from '../http/reply.ts';
import { newFolder } from '../../tests/place.ts';

type Row = { n: number; at: Date; text: string };

const database = await createTestDatabase();
/** Of the processes, whose statements may take no longer. */
const hasty = createPool(database.url, 6, { ...quick, statementMs: 300, lockMs: 0 });
const pool = createPool(database.url, 3);
const db = createDb(pool);
await sql`create table noted (n int primary key, at timestamptz, text text check (text <> 'poison'))`.execute(
  db,
);

let folder: string;
let said: string[];
let behinds: WriteBehind[];

afterAll(() => Promise.all([hasty.end(), pool.end()]));
beforeEach(async () => {
  folder = join(await newFolder(), 'journal');
  [said, behinds] = [[], []];
  await sql`truncate noted`.execute(db);
  await sql`truncate update_event_ids`.execute(db);
});
afterEach(async () => {
  await Promise.all(behinds.map((one) => one.stop()));
});

/** A process: `add` records numbers, which may stand in the table only once. */
function start(mostBytes = 100_000_000, on = createDb(hasty), part: Partial<Journal> = {}) {
  const log = pino({ level: 'info', base: null }, { write: (line) => void said.push(line) });
  const journal = { ...openJournal(folder, mostBytes), ...part };
  const behind = createWriteBehind({ db: on, writeEntry: async () => '', log, journal, lastWriteMs: 500 });
  behinds.push(behind);
  const writer = behind.queue<Row>('notes', async (rows, once) => {
    await once(async (tx) => {
      await sql`insert into noted select * from unnest(${rows.map((r) => r.n)}::int[],
        ${rows.map((r) => r.at)}::timestamptz[], ${rows.map((r) => r.text)}::text[])`.execute(tx);
    });
  });
  const add = (from: number, count: number, text = 'x') => {
    for (let n = from; n < from + count; n++) writer.add({ n, at: new Date(n * 1000), text });
  };
  const state = () => behind.state()[0]!;
  return {
    behind,
    add,
    state,
    journalBytes: behind.journalBytes,
    damaged: behind.damagedFiles,
    isBehind: writer.isBehind,
  };
}

const stored = async () => {
  const { rows } = await sql<{ rows: number; own: number; until: number }>`
    select count(*)::int as rows, count(*) filter (where at = to_timestamp(n))::int as own, max(n)::int as until
      from noted`.execute(db);
  return rows[0]!;
};

/** Holds the table locked while `work` runs. */
async function locked(work: () => Promise<void>): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx);
    await sql`lock table noted in access exclusive mode`.execute(tx);
    await work();
  });
}

/** Connections to where nobody listens, or as the address says. */
async function withoutDatabase(
  work: (db: WritableDb) => Promise<void>,
  address = 'postgres://x:x@127.0.0.1:1/x',
): Promise<void> {
  const lost = createPool(address);
  try {
    await work(createDb(lost));
  } finally {
    await lost.end();
  }
}

const files = () => readdir(folder).catch(() => []);
const sizeOfOnly = async () => (await stat(join(folder, (await files())[0]!))).size;

test('rows wait while a lock lasts longer than a statement may, and are written once each', async () => {
  const { add, state, journalBytes } = start();
  await locked(async () => {
    add(0, 560);
    await eventually(() => said.filter((line) => line.includes('57014')).length > 0);
    add(560, 440);
    await eventually(() => state().waiting === 1000);
    expect(said.filter((line) => line.includes('Rows wait for the database'))).toHaveLength(1);
  });
  // the rows are visible before their writer is told
  await eventually(async () => (await stored()).rows === 1000 && state().waiting === 0);
  expect(await stored()).toEqual({ rows: 1000, own: 1000, until: 999 });
  expect([state().dropped, await journalBytes()]).toEqual([0, 0]);
});

const unusable: [string, (url: URL) => void][] = [
  ['has no TLS', (url) => url.searchParams.set('sslmode', 'verify-full')],
  ['wants a password that the address lacks', (url) => void (url.password = '')],
  ['refuses the password', (url) => void (url.password = 'old')],
];
test.for(unusable)(
  'rows wait, in the journal too, and calls get 503, while a database %s',
  async ([, change]) => {
    const address = new URL(database.url);
    change(address);
    await withoutDatabase(async (lost) => {
      await expect(sql`select`.execute(lost).catch(databaseFailure)).resolves.toBe(databaseUnavailable);
      for (const row of [0, 1]) {
        const { behind, add, state } = start(undefined, lost);
        add(2 * row, 2);
        await eventually(
          () => said.filter((line) => line.includes('Rows wait for the database')).length > row,
        );
        await behind.stop();
        expect(state()).toMatchObject({ waiting: 0, dropped: 0 });
      }
    }, address.href);
    start();
    await eventually(async () => (await stored()).rows === 4);
  },
);

test('what exceeds the memory goes to the journal also while a write hangs, and is written in its order', async () => {
  const { add, state, journalBytes } = start();
  await locked(async () => {
    for (let from = 0; from < 30_000; from += 500) add(from, 500);
    await eventually(async () => (await journalBytes()) > 100_000);
    expect(state().waiting).toBeLessThan(15_000);
  });
  const [first] = await files();
  expect((await stat(join(folder, first!))).mode & 0o777).toBe(0o640);
  expect((await stat(folder)).mode & 0o777).toBe(0o750);
  await eventually(async () => {
    const { rows, until } = await stored();
    // no gap: older rows come first
    if (rows > 0) expect(until + 1).toBe(rows);
    return rows === 30_000 && (await journalBytes()) === 0;
  });
  expect(await stored()).toEqual({ rows: 30_000, own: 30_000, until: 29_999 });
  expect(await files()).toEqual([]);
});

test('a stop without a database leaves everything in the journal, and the next start writes it', async () => {
  await withoutDatabase(async (nowhere) => {
    const { behind, add, state } = start(undefined, nowhere);
    add(0, 2500);
    await eventually(() => said.some((line) => line.includes('Rows wait for the database')));
    await behind.stop();
    expect(state()).toMatchObject({ waiting: 0, dropped: 0 });
    expect((await files()).length).toBeGreaterThan(1);
    add(2500, 10);
    await behind.toJournal();
  });
  start();
  await eventually(async () => (await stored()).rows === 2510);
  expect(await stored()).toEqual({ rows: 2510, own: 2510, until: 2509 });
  await eventually(async () => (await files()).length === 0);
});

test('the draft of a process that was killed while it wrote to the journal is removed', async () => {
  await mkdir(folder);
  const [old, young] = ['old', 'young'].map((name) => join(folder, `notes-${name}.json.part`)) as [
    string,
    string,
  ];
  for (const draft of [old, young]) await writeFile(draft, '[{');
  await utimes(old, 0, 0);
  start();
  expect(await files()).toEqual(['notes-young.json.part']);
});

test('a batch of the journal that was written before the process was killed is not written again, nor by two at once', async () => {
  const killed = start();
  await locked(async () => {
    killed.add(0, 3000);
    await killed.behind.toJournal();
  });
  const kept = await Promise.all(
    (await files()).map(async (name) => [name, await readFile(join(folder, name))] as const),
  );
  expect(kept).toHaveLength(2);
  const both = [start(), start()];
  await eventually(async () => (await stored()).rows === 3000 && (await files()).length === 0);
  await Promise.all(both.map(({ behind }) => behind.stop()));

  // as if it had been killed between the commit and the removal
  for (const [name, text] of kept) await writeFile(join(folder, name), text);
  await sql`truncate noted`.execute(db);
  const next = start();
  next.add(5000, 1);
  await eventually(async () => (await stored()).rows > 0 && (await files()).length === 0);
  expect(await stored()).toMatchObject({ rows: 1, until: 5000 });
});

test('what the journal has no room for is dropped, counted and logged with its number', async () => {
  const { add, state } = start(200_000);
  await locked(async () => {
    add(0, 20_000);
    await eventually(() => state().dropped > 0 && said.some((line) => line.includes('dropped')));
  });
  await eventually(async () => (await stored()).rows === 20_000 - state().dropped);
  const { dropped } = state();
  const told = said
    .map((line) => JSON.parse(line) as { msg: string; rows: number })
    .filter(({ msg }) => msg.endsWith('dropped'));
  expect(told.reduce((sum, { rows }) => sum + rows, 0)).toBe(dropped);
  expect(told[0]!.msg).toMatch(/^The journal takes no more rows: \d+ dropped$/);
});

test('processes that share a folder share its limit', async () => {
  const [one, other] = [openJournal(folder, 1000), openJournal(folder, 1000)];
  await one.keep('notes', batchOf(['x'.repeat(600)]));
  await expect(other.keep('notes', batchOf(['y'.repeat(600)]))).rejects.toThrow(
    'The journal holds 604 bytes',
  );
  expect(await other.bytes()).toBe(604);
});

test('a batch that was written and removed waits no longer, also where the folder cannot be read then', async () => {
  const journal = openJournal(folder, 100_000);
  await journal.keep('notes', batchOf([1]));
  expect([await journal.holds('notes'), await journal.bytes()]).toEqual([true, 3]);
  await journal.remove('notes', journal.first('notes')!);
  await rename(folder, `${folder}.gone`);
  await writeFile(folder, '');
  expect([await journal.holds('notes'), await journal.bytes()]).toEqual([false, 0]);
});

test('what a process that does not come back leaves in the journal is written by one that asks what waits', async () => {
  const [asking, gone] = [start(), start()];
  await locked(async () => {
    gone.add(0, 10);
    await gone.behind.toJournal();
    expect(await asking.isBehind()).toBe(true);
  });
  await eventually(async () => !(await asking.isBehind()));
  expect(await stored()).toEqual({ rows: 10, own: 10, until: 9 });
});

test('memory fills first, then the journal, and only then the newest are dropped', async () => {
  const { add, state, journalBytes } = start(200_000);
  await locked(async () => {
    add(0, 10_000);
    await eventually(() => said.some((line) => line.includes('Rows wait for the database')));
    expect(state()).toMatchObject({ waiting: 10_000, dropped: 0 });
    expect(await journalBytes()).toBe(0);
    add(10_000, 2000);
    await eventually(async () => (await journalBytes()) > 0);
    expect(state()).toMatchObject({ waiting: 10_000, dropped: 0 });
    add(12_000, 4000);
    await eventually(() => state().dropped === 4000);
    expect(state().waiting).toBe(10_000);
    expect(await journalBytes()).toBeLessThanOrEqual(200_000);
  });
  await eventually(async () => (await stored()).rows === 12_000 && (await journalBytes()) === 0);
  expect(await stored()).toEqual({ rows: 12_000, own: 12_000, until: 11_999 });
  add(16_000, 1);
  await eventually(async () => (await stored()).until === 16_000);
});

test.skipIf(process.getuid?.() !== 0)(
  'a journal whose disk is full keeps what has room there, and goes on when there is some [needs root]',
  async () => {
    await mkdir(folder);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=300k', 'tmpfs', folder]);
    try {
      const { add, behind, state, journalBytes } = start();
      await locked(async () => {
        add(0, 20_000);
        await eventually(() => state().dropped > 0);
        // what could not be written whole is removed
        await eventually(async () => (await files()).every((name) => name.endsWith('.json')));
      });
      await eventually(async () => (await stored()).rows === 20_000 - state().dropped);
      const { dropped } = state();
      const kept = 20_000 - dropped;
      expect(kept).toBeGreaterThan(10_000);
      expect(said.find((line) => line.includes('The journal takes no more rows'))).toContain('ENOSPC');
      expect(await stored()).toEqual({ rows: kept, own: kept, until: kept - 1 });
      await locked(async () => {
        add(20_000, 12_000);
        await eventually(async () => (await journalBytes()) > 0);
      });
      await eventually(async () => (await stored()).rows === kept + 12_000);
      expect(state().dropped).toBe(dropped);
      await behind.stop();
    } finally {
      execFileSync('umount', ['-l', folder]);
    }
  },
);

test('a row that the database refuses is dropped alone', async () => {
  const { add, state } = start();
  add(0, 700);
  add(700, 1, 'poison');
  add(701, 299);
  await eventually(() => state().waiting === 0);
  expect(await stored()).toMatchObject({ rows: 999, until: 999 });
  expect(state().dropped).toBe(1);
});

test('a batch whose answer was lost is not written twice', async () => {
  const { behind } = start();
  let times = 0;
  const writer = behind.queue<number>('once', async (rows, once) => {
    await once((tx) => sql`insert into noted select unnest(${rows}::int[])`.execute(tx));
    if (times++ === 0) throw Object.assign(new Error('Connection terminated'), { code: '08006' });
  });
  writer.add(7);
  await eventually(() => times === 2 && behind.state().at(-1)!.waiting === 0);
  expect(await stored()).toMatchObject({ rows: 1 });
  expect(behind.state().at(-1)).toMatchObject({ name: 'once', waiting: 0, dropped: 0 });
});

test('a batch that a stop moves to the journal while it is halved for a refused row is not written twice', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const halving = () => {
    const { behind } = start();
    const writer = behind.queue<Row>('halved', async (rows, once) => {
      if (rows.length === 1 && rows[0]!.n === 3) await held;
      await once((tx) =>
        sql`insert into noted select * from unnest(${rows.map((r) => r.n)}::int[],
          ${rows.map((r) => r.at)}::timestamptz[], ${rows.map((r) => r.text)}::text[])`.execute(tx),
      );
    });
    return { writer, behind, state: () => behind.state().at(-1)! };
  };
  const stopped = halving();
  for (const n of [0, 1, 2, 3])
    stopped.writer.add({ n, at: new Date(n * 1000), text: n === 2 ? 'poison' : 'x' });
  const writing = stopped.writer.flush();
  await eventually(() => stopped.state().dropped === 1);
  await stopped.behind.toJournal();
  release();
  await writing;
  await eventually(async () => expect(await stored()).toMatchObject({ rows: 3, own: 3 }));
  const next = halving();
  await eventually(async () => (await files()).length === 0);
  expect(next.state()).toMatchObject({ waiting: 0, dropped: 1 });
});

test.each(['[{', '{}'])(
  'a damaged file (%s) of the journal is set aside and does not hold up the others',
  async (text) => {
    const { behind, add } = start();
    await locked(async () => {
      add(0, 3000);
      await behind.toJournal();
    });
    const [first] = (await files()).toSorted();
    await writeFile(join(folder, first!), text);
    const next = start();
    await eventually(async () => (await stored()).rows === 1000);
    await eventually(async () => (await files()).join() === `${first}.damaged`);
    expect([await next.isBehind(), next.state().dropped, await next.damaged()]).toEqual([false, 0, 1]);
    const later = start();
    expect(await later.damaged()).toBe(1);
    await rm(join(folder, `${first}.damaged`));
    expect([await next.damaged(), await later.damaged()]).toEqual([0, 0]);
  },
);

test('a damaged file of the journal counts as one where it cannot be renamed', async () => {
  // too long with what its name would get
  const queue = 'n'.repeat(210);
  await mkdir(folder);
  await writeFile(join(folder, `${queue}-${batchOf([]).id}.json`), '[{');
  const journal = openJournal(folder, 1000);
  expect(await journal.damaged()).toBe(0);
  await journal.setAside(queue, journal.first(queue)!);
  expect([await journal.damaged(), await journal.bytes()]).toEqual([1, 0]);
});

test('a file of the journal that cannot be read for a moment is read later, any other waits for the next start', async () => {
  const { behind, add } = start();
  await locked(async () => {
    add(0, 3000);
    await behind.toJournal();
  });
  const journal = openJournal(folder, 0);
  let refusals = 0;
  const refusing = (code: string, most: number): Partial<Journal> => ({
    read: async <R>(segment: Parameters<Journal['read']>[0]) => {
      if (refusals++ < most) throw Object.assign(new Error('No'), { code });
      return journal.read<R>(segment);
    },
  });
  const next = start(undefined, undefined, refusing('EACCES', 1));
  // removed after its rows are stored
  await eventually(async () => (await stored()).rows === 1000 && (await files()).length === 1);
  expect([await next.isBehind(), await next.journalBytes()]).toEqual([true, await sizeOfOnly()]);
  next.add(3000, 1);
  await eventually(async () => (await stored()).until === 3000);
  await next.behind.stop();
  refusals = 0;
  start(undefined, undefined, refusing('EMFILE', 2));
  await eventually(async () => (await files()).length === 0);
  expect(await stored()).toMatchObject({ rows: 3001, own: 3001 });
  // once more for each statement that a busy machine does not end in time
  expect(refusals).toBeGreaterThanOrEqual(3);
});

test('rows that the journal cannot take for a moment are kept as soon as it can, unless too many wait', async () => {
  const journal = openJournal(folder, 100_000_000);
  let isShort = true;
  const { behind } = start(undefined, undefined, {
    ...journal,
    async keep(...batch) {
      if (isShort) throw Object.assign(new Error('No'), { code: 'EMFILE' });
      return journal.keep(...batch);
    },
  });
  let release = () => {};
  const hold = () => new Promise<void>((resolve) => (release = resolve));
  let held = hold();
  const written: number[] = [];
  const writer = behind.queue<number>('numbers', async (rows) => {
    await held;
    written.push(...rows);
  });
  const add = (from: number, until: number) => {
    for (let n = from; n < until; n++) writer.add(n);
  };
  const state = () => behind.state().at(-1)!;
  add(0, 30_000);
  await eventually(() => said.some((line) => line.includes('The journal lacks something for a moment')));
  expect([state().dropped, await behind.journalBytes()]).toEqual([0, 0]);
  isShort = false;
  await eventually(async () => (await files()).length > 0);
  release();
  await eventually(() => written.length === 30_000);
  expect(written).toEqual(written.map((_, n) => n));
  [isShort, held] = [true, hold()];
  add(30_000, 180_000);
  await eventually(() => state().dropped >= 20_000);
  isShort = false;
  release();
  await eventually(() => written.length === 180_000 - state().dropped);
  expect(state().dropped).toBeLessThan(60_000);
});

test('a file of the journal that cannot be removed does not hold up the rows after it', async () => {
  const { behind, add } = start();
  await locked(async () => {
    add(0, 10);
    await behind.toJournal();
  });
  const journal = openJournal(folder, 100_000_000);
  const next = start(undefined, undefined, {
    ...journal,
    async remove(queue, segment) {
      const [file, text] = [join(folder, segment.file), JSON.stringify(await journal.read(segment))];
      await journal.remove(queue, segment);
      await writeFile(file, text);
      throw Object.assign(new Error('No'), { code: 'EROFS' });
    },
  });
  await eventually(async () => (await stored()).rows === 10);
  next.add(10, 5);
  await eventually(async () => (await stored()).rows === 15);
  expect(await files()).toEqual([expect.stringMatching(/\.json$/)]);
  expect([await next.isBehind(), await next.journalBytes()]).toEqual([false, 0]);
});
