import type { Logger } from 'pino';
import { mayPass } from './client.ts';

/**
 * What was answered more than a second ago is on disk: little of that second for waiting, the rest for writing. Small
 * batches also keep the answers between them even: a long one would hold the event loop for milliseconds.
 */
const everyMs = 100;
/** Rows in memory when the database is away; beyond this the oldest go. */
const mostRows = 100_000;

export type BatchWriter<Row> = { add(row: Row): void; flush(): Promise<void>; stop(): Promise<void> };

/**
 * Collects rows and hands them to `write` together, so that recording neither slows nor fails what is recorded.
 * When the database is away, full, or held this batch up too long, the rows wait; what it refuses for another reason is
 * logged and dropped.
 */
export function createBatchWriter<Row>(
  name: string,
  log: Logger,
  write: (rows: Row[]) => Promise<void>,
): BatchWriter<Row> {
  let rows: Row[] = [];
  let writing: Promise<void> = Promise.resolve();

  async function writeWaiting(): Promise<void> {
    if (rows.length === 0) return;
    const batch = rows;
    rows = [];
    try {
      await write(batch);
    } catch (error) {
      if (mayPass(error)) rows = [...batch, ...rows].slice(-mostRows);
      else log.error({ err: error, rows: batch.length }, `${name} could not be written`);
    }
  }

  const flush = () => (writing = writing.then(writeWaiting));
  const timer = setInterval(() => void flush(), everyMs).unref();
  return {
    add: (row) => void rows.push(row),
    flush,
    stop() {
      clearInterval(timer);
      return flush();
    },
  };
}
