import { sql } from 'kysely';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { v5 as uuidv5 } from 'uuid';
import { systemChange, type ChangeParts } from '../change.ts';
import { codeOf, mayPass, type Tx } from './client.ts';
import { batchOf, type Batch, type Journal } from './journal.ts';
import { present } from '../invariants.ts';

/**
 * Records are on disk a second after the response: a small part of that for waiting, the rest for writing. Small
 * batches also keep latency even: a long one would block the event loop for milliseconds.
 */
const everyMs = 100;
const mostOfBatch = 2000;
/** The maximum number of rows of a queue in memory; further rows go to the journal. */
const mostRows = 10_000;
/** The maximum number of batches on their way to the journal while it lacks something. */
const mostKeeping = 50;
const longestPauseMs = 2000;

export type BatchWriter<Row> = {
  add: (row: Row) => void;
  flush: () => Promise<void>;
  /**
   * Whether rows wait because the database does not take them, or more than it takes at once: those of this process, and
   * those of others in the journal, which this process then writes too.
   */
  isBehind: () => Promise<boolean>;
};

/**
 * Runs `work` in a transaction that takes effect once per batch, no matter how often it is retried; undefined if it
 * already has.
 */
type Once = <T>(work: (tx: Tx) => Promise<T>) => Promise<T | undefined>;
type Write<Row> = (rows: Row[], once: Once) => Promise<void>;

type Queue = Omit<ReturnType<typeof createQueue>, 'add'>;

export type WriteBehind = ReturnType<typeof createWriteBehind>;

/**
 * Writes records after the response: `queue` creates a writer, which collects rows and passes them to `write` in
 * batches, so that recording neither slows nor fails calls. While the database is down, full or busy, rows wait in
 * memory, then in the journal, in order; rows are dropped only if the journal is full. A row that the database rejects
 * is dropped alone.
 */
export function createWriteBehind({ log, journal, lastWriteMs = 4000, ...parts }: Parts) {
  const queues = new Map<string, Queue>();
  const timer = setInterval(() => queues.forEach((queue) => void queue.flush()), everyMs).unref();
  const all = (work: (queue: Queue) => Promise<void>) => Promise.all([...queues.values()].map(work));
  const toJournal = async () => void (await all((queue) => queue.toJournal()));
  return {
    /** `name` is the name of the queue in the journal, such as `update-events`. */
    queue<Row>(name: string, write: Write<Row>): BatchWriter<Row> {
      const queue = createQueue(name, write, { ...parts, log, journal });
      queues.set(name, queue);
      return { add: queue.add, flush: queue.flushNow, isBehind: queue.isBehind };
    },
    /** By queue: rows in memory, since how many milliseconds rows wait in vain, and rows dropped since the start. */
    state: () =>
      [...queues].map(([name, { waiting, failingMs, dropped }]) => ({
        name,
        waiting: waiting(),
        failingMs: failingMs(),
        dropped: dropped(),
      })),
    journalBytes: journal.bytes,
    damagedFiles: journal.damaged,
    /** Moves waiting rows to the journal, and sends all later ones there. */
    toJournal,
    /** Writes the waiting rows; those that the database does not accept in time go to the journal. */
    async stop() {
      const until = performance.now() + lastWriteMs;
      const writeOut = async ({ waiting, flushNow }: Queue) => {
        while (waiting() > 0 && performance.now() < until) {
          await flushNow();
          // Not unref'd: this timer may be all that keeps the process alive.
          if (waiting() > 0) await sleep(everyMs);
        }
      };
      await Promise.race([all(writeOut), sleep(lastWriteMs, undefined, { ref: false })]);
      clearInterval(timer);
      await toJournal();
    },
  };
}

type Parts = ChangeParts & {
  log: Logger;
  journal: Journal;
  /** Part of the ten seconds that a stop may take. */
  lastWriteMs?: number;
};

function createQueue<Row>(name: string, write: Write<Row>, { log, journal, ...parts }: Parts) {
  // In order of time: `head` is written next, then the journal, then `tail`.
  let head: Batch<Row>[] = [];
  let tail: Row[] = [];
  let keeping = 0;
  let kept: Promise<void> = Promise.resolve();
  let writing: Promise<void> = Promise.resolve();
  let written: string[] = [];
  let pauseMs = 0;
  let failingSince = 0;
  let tryAgainAt = 0;
  let isClosing = false;
  let dropped = 0;

  const waiting = () => tail.length + head.reduce((sum, { rows }) => sum + rows.length, 0);

  /** Also runs while a write hangs: that is when memory fills. */
  function settle(): void {
    if (!isClosing && keeping === 0 && !journal.first(name))
      while (tail.length > 0 && waiting() - tail.length < mostRows)
        head.push(batchOf(tail.splice(0, mostOfBatch)));
    while (tail.length >= (isClosing ? 1 : mostOfBatch)) keep(batchOf(tail.splice(0, mostOfBatch)));
  }

  function keep(batch: Batch<Row>): void {
    if (keeping++ === 0 && !journal.first(name)) log.warn({ queue: name }, 'Rows go to the journal');
    kept = kept
      .then(() => keepOnceItCan(batch))
      .catch((error: unknown) => drop(batch.rows.length, 'The journal takes no more rows', error))
      .finally(() => keeping--);
  }

  /** Waits while descriptors or memory lack, unless a stop waits too, or so many batches that memory would fill. */
  async function keepOnceItCan(batch: Batch<Row>): Promise<void> {
    for (let tries = 1; ; tries++)
      try {
        return await journal.keep(name, batch);
      } catch (error) {
        if (isClosing || keeping > mostKeeping || !isShortage(error)) throw error;
        if (tries === 1) log.warn({ err: error, queue: name }, 'The journal lacks something for a moment');
        await sleep(everyMs);
      }
  }

  function drop(rows: number, why: string, error: unknown): void {
    dropped += rows;
    log.error({ err: error, queue: name, rows, dropped }, `${why}: ${rows} dropped`);
  }

  async function writeAll(): Promise<void> {
    while (!isClosing && (head.length > 0 || (await hasMore()))) {
      if (!(head.length > 0 ? await writeHead() : await writeJournaled())) {
        const now = performance.now();
        if (pauseMs === 0) failingSince = now;
        tryAgainAt = now + (pauseMs = Math.min(longestPauseMs, 2 * pauseMs || everyMs));
        return;
      }
      if (pauseMs > 0) log.info({ queue: name }, 'Rows are written again');
      pauseMs = tryAgainAt = 0;
    }
  }

  async function hasMore(): Promise<boolean> {
    await kept;
    settle();
    return head.length > 0 || journal.first(name) !== undefined;
  }

  async function writeHead(): Promise<boolean> {
    const batch = present(head[0], 'it is called while something waits');
    const rest = await attempt(batch);
    // A stop may have moved it to the journal.
    if (head[0] === batch) head.splice(0, 1, ...rest);
    return rest.length === 0;
  }

  async function writeJournaled(): Promise<boolean> {
    const segment = present(journal.first(name), 'it is called while the journal holds something');
    const { file } = segment;
    let rows: Row[] | undefined;
    try {
      rows = await journal.read<Row>(segment);
    } catch (error) {
      if (isShortage(error)) {
        if (pauseMs === 0)
          log.warn({ err: error, queue: name, file }, 'A file of the journal waits to be read');
        return false;
      }
      const isDamaged = error instanceof SyntaxError;
      const what = isDamaged ? 'is damaged and set aside' : 'cannot be read and is left to the next start';
      log.error({ err: error, file }, `A file of the journal ${what}`);
      if (isDamaged) await journal.setAside(name, segment);
      else journal.leave(name, segment);
      return true;
    }
    if (rows && (await attempt({ id: segment.id, rows }, true)).length > 0) return false;
    // one that stays is not written again
    await journal
      .remove(name, segment)
      .catch((error: unknown) => log.error({ err: error, file }, 'A file of the journal was not removed'));
    return true;
  }

  /**
   * Returns the batches to retry. A batch with a rejected row is halved until that row is alone. `mayComeAgain`: from a
   * file of the journal, so the id is not removed with the next batch.
   */
  async function attempt(batch: Batch<Row>, mayComeAgain = false): Promise<Batch<Row>[]> {
    const { id, rows } = batch;
    try {
      await write(rows, onceFor(id, mayComeAgain));
      if (!mayComeAgain) written.push(id);
      return [];
    } catch (error) {
      if (!isRefusal(error)) {
        if (pauseMs === 0)
          log.warn({ err: error, queue: name, rows: waiting() }, 'Rows wait for the database');
        return [batch];
      }
      if (rows.length === 1) {
        drop(1, 'The database refuses a row', error);
        return [];
      }
      const middle = Math.ceil(rows.length / 2);
      // The halves get the same ids if all of it comes again: after a crash, or because a stop moves it to the journal.
      const right = { id: uuidv5('right', id), rows: rows.slice(middle) };
      const rest = await attempt({ id: uuidv5('left', id), rows: rows.slice(0, middle) }, true);
      return rest.length > 0 ? [...rest, right] : attempt(right, true);
    }
  }

  const onceFor =
    (id: string, mayComeAgain: boolean): Once =>
    async (work) => {
      const forgotten = written;
      const result = await systemChange(parts, new Date(), async ({ tx }) => {
        // The next batch deletes the id; ids of journal files, which another process may still read, expire with those
        // of reports. Asynchronous commit may lose less than the promised second in a crash of the database machine;
        // rows that have already waited are committed synchronously.
        const { rows } = await sql`
          with forgotten as (delete from update_event_ids where event_id = any(${forgotten}::uuid[])),
               settings as (select set_config('synchronous_commit',
                 case when ${mayComeAgain || pauseMs > 0} then current_setting('synchronous_commit') else 'off' end, true) as mode)
          insert into update_event_ids (event_id, seen_at) select ${id}::uuid, now() from settings
          on conflict do nothing returning event_id`.execute(tx);
        return rows.length > 0 ? work(tx) : undefined;
      });
      written = written.filter((one) => !forgotten.includes(one));
      return result;
    };

  const flushNow = () => (writing = writing.then(settle).then(writeAll));
  return {
    add: (row: Row) => void tail.push(row),
    waiting,
    failingMs: () => (pauseMs > 0 ? performance.now() - failingSince : 0),
    dropped: () => dropped,
    isBehind: async () => {
      if (pauseMs > 0 || waiting() > mostOfBatch) return true;
      return journal.holds(name);
    },
    /** Writes the waiting rows, unless the database has just failed and is being given time. */
    async flush() {
      settle();
      if (performance.now() >= tryAgainAt) await flushNow();
    },
    flushNow,
    async toJournal() {
      isClosing = true;
      for (const batch of head.splice(0)) keep(batch);
      settle();
      await kept;
    },
  };
}

/** Errors of a process or a machine that lacks something for a moment, which say nothing about the file. */
const isShortage = (error: unknown) => ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN'].includes(codeOf(error) ?? '');

/** True if a row caused the error: its content, or our own code fails on it. */
function isRefusal(error: unknown): boolean {
  const code = codeOf(error);
  return !mayPass(error) && (code === undefined || /^(22|23|54)/.test(code));
}
