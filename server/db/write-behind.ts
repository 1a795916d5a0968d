import { sql } from 'kysely';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { v5 as uuidv5 } from 'uuid';
import { systemChange, type ChangeParts } from '../change.ts';
import { mayPass, type Tx } from './client.ts';
import { batchOf, type Batch, type Journal } from './journal.ts';
import { present } from '../invariants.ts';

/**
 * What was answered more than a second ago is on disk: little of that second for waiting, the rest for writing. Small
 * batches also keep the answers between them even: a long one would hold the event loop for milliseconds.
 */
const everyMs = 100;
const mostOfBatch = 2000;
/** Rows of a queue that wait in memory; what exceeds them goes to the journal. */
const mostRows = 10_000;
const longestPauseMs = 2000;
/** Of the ten seconds that a stop may take. */
const lastWriteMs = 4000;

export type BatchWriter<Row> = { add: (row: Row) => void; flush: () => Promise<void> };

/**
 * Runs `work` in a transaction that the database carries out once for a batch, however often it is tried; undefined
 * when it has been.
 */
type Once = <T>(work: (tx: Tx) => Promise<T>) => Promise<T | undefined>;
type Write<Row> = (rows: Row[], once: Once) => Promise<void>;

type Queue = {
  waiting: () => number;
  dropped: () => number;
  flush: () => Promise<void>;
  flushNow: () => Promise<void>;
  toJournal: () => Promise<void>;
};

export type WriteBehind = ReturnType<typeof createWriteBehind>;

/**
 * Records behind the answers: `queue` makes a writer, which collects rows and hands them to `write` together, so that
 * recording neither slows nor fails what is recorded. When the database is away, full or busy, rows wait in memory, then
 * in the journal, in their order; only what the journal has no room for is dropped. A row that the database refuses for
 * what it says is dropped alone.
 */
export function createWriteBehind({ log, journal, ...parts }: Parts) {
  const queues = new Map<string, Queue>();
  const timer = setInterval(() => queues.forEach((queue) => void queue.flush()), everyMs).unref();
  const all = (work: (queue: Queue) => Promise<void>) => Promise.all([...queues.values()].map(work));
  const toJournal = async () => void (await all((queue) => queue.toJournal()));
  return {
    /** `name` as the journal has it, such as `update-events`. */
    queue<Row>(name: string, write: Write<Row>): BatchWriter<Row> {
      const queue = createQueue(name, write, { ...parts, log, journal });
      queues.set(name, queue);
      return { add: queue.add, flush: queue.flushNow };
    },
    /** Rows in memory and dropped since the start, by queue, and the bytes in the journal. */
    state: () => ({
      journalBytes: journal.bytes(),
      queues: [...queues].map(([name, { waiting, dropped }]) => ({
        name,
        waiting: waiting(),
        dropped: dropped(),
      })),
    }),
    /** Puts what waits into the journal, and from then on all that comes. */
    toJournal,
    /** Writes what waits, and puts into the journal what the database does not take in time. */
    async stop() {
      const until = performance.now() + lastWriteMs;
      const writeOut = async ({ waiting, flushNow }: Queue) => {
        while (waiting() > 0 && performance.now() < until) {
          await flushNow();
          // nothing else may keep the process alive
          if (waiting() > 0) await sleep(everyMs);
        }
      };
      await Promise.race([all(writeOut), sleep(lastWriteMs, undefined, { ref: false })]);
      clearInterval(timer);
      await toJournal();
    },
  };
}

type Parts = ChangeParts & { log: Logger; journal: Journal };

function createQueue<Row>(name: string, write: Write<Row>, { log, journal, ...parts }: Parts) {
  // in the order of time: what is written next, what is in the journal, what came last
  let head: Batch<Row>[] = [];
  let tail: Row[] = [];
  let keeping = 0;
  let kept: Promise<void> = Promise.resolve();
  let writing: Promise<void> = Promise.resolve();
  let written: string[] = [];
  let pauseMs = 0;
  let tryAgainAt = 0;
  let isClosing = false;
  let dropped = 0;

  const waiting = () => tail.length + head.reduce((sum, { rows }) => sum + rows.length, 0);

  /** Runs while a write hangs too: that is when memory fills. */
  function settle(): void {
    if (!isClosing && keeping === 0 && !journal.first(name))
      while (tail.length > 0 && waiting() - tail.length < mostRows)
        head.push(batchOf(tail.splice(0, mostOfBatch)));
    while (tail.length >= (isClosing ? 1 : mostOfBatch)) keep(batchOf(tail.splice(0, mostOfBatch)));
  }

  function keep(batch: Batch<Row>): void {
    if (keeping++ === 0 && !journal.first(name)) log.warn({ queue: name }, 'Rows go to the journal');
    kept = kept
      .then(() => journal.keep(name, batch))
      .catch((error: unknown) => drop(batch.rows.length, 'The journal takes no more rows', error))
      .finally(() => keeping--);
  }

  function drop(rows: number, why: string, error: unknown): void {
    dropped += rows;
    log.error({ err: error, queue: name, rows, dropped }, `${why}: ${rows} dropped`);
  }

  async function writeAll(): Promise<void> {
    while (!isClosing && (head.length > 0 || (await hasMore()))) {
      if (!(head.length > 0 ? await writeHead() : await writeJournaled())) {
        tryAgainAt = performance.now() + (pauseMs = Math.min(longestPauseMs, 2 * pauseMs || everyMs));
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
    // a stop may have put it into the journal meanwhile
    if (head[0] === batch) head.splice(0, 1, ...rest);
    return rest.length === 0;
  }

  async function writeJournaled(): Promise<boolean> {
    const segment = present(journal.first(name), 'it is called while the journal holds something');
    try {
      const rows = await journal.read<Row>(segment);
      if (rows && (await attempt({ id: segment.id, rows }, true)).length > 0) return false;
      await journal.remove(name, segment);
    } catch (error) {
      log.error({ err: error, file: segment.file }, 'A file of the journal cannot be read and is set aside');
      await journal.setAside(name, segment);
    }
    return true;
  }

  /** Answers what is to be tried again. A batch with a row that is refused is halved until that row stands alone. */
  async function attempt(batch: Batch<Row>, isJournaled = false): Promise<Batch<Row>[]> {
    const { id, rows } = batch;
    try {
      await write(rows, onceFor(id, isJournaled));
      if (!isJournaled) written.push(id);
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
      // the same halves have the same ids after a crash
      const right = { id: uuidv5('right', id), rows: rows.slice(middle) };
      const rest = await attempt({ id: uuidv5('left', id), rows: rows.slice(0, middle) }, isJournaled);
      return rest.length > 0 ? [...rest, right] : attempt(right, isJournaled);
    }
  }

  const onceFor =
    (id: string, isJournaled: boolean): Once =>
    async (work) => {
      const forgotten = written;
      const result = await systemChange(parts, new Date(), async ({ tx }) => {
        // The id goes when the next batch comes; that of a file, which another process may still read, goes with those
        // of reports. What is lost with a crash of the database machine itself is below the second that is promised,
        // unless it has waited already.
        const { rows } = await sql`
          with forgotten as (delete from update_event_ids where event_id = any(${forgotten}::uuid[])),
               settings as (select set_config('synchronous_commit',
                 case when ${isJournaled || pauseMs > 0} then current_setting('synchronous_commit') else 'off' end, true) as mode)
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
    dropped: () => dropped,
    /** Writes what waits, unless the database has just refused and needs time. */
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

/** True when a row is to blame: for what it says, or because our own code fails with it. */
function isRefusal(error: unknown): boolean {
  const { code } = error as { code?: string };
  return !mayPass(error) && (code === undefined || /^(22|23|54)/.test(code));
}
