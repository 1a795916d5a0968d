import { readdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { attempt, removeAbandonedDrafts, writeDurably } from './durable.ts';
import type { NoReply, Reply } from './http.ts';
import { jsonObject } from './jws.ts';

/** An event as the service takes it; further fields are its facts. */
export type OutboxEvent = { eventId: string; timestamp: string } & Record<string, string | number>;

/** Sends one batch; never throws. */
type SendEvents = (events: OutboxEvent[]) => Promise<Reply | NoReply>;

export type Outbox = {
  /**
   * Keeps an event until the service has it. True: it is on the disk, whatever happens next. False: the outbox is full
   * or the disk takes nothing, and the event is not kept. An event with a known id replaces it.
   */
  add(event: OutboxEvent): boolean;
  /** Sends what waits, now. Returns how many events still wait. */
  deliver(): Promise<{ waiting: number }>;
  /** Ends the delivery; what waits is kept for the next start. */
  stop(): Promise<void>;
};

const mostWaiting = 1000;
const mostInBatch = 500;
/** Half of what the service takes in one request, and proxies by default. */
const mostBatchBytes = 500_000;
const [firstRetryMs, lastRetryMs] = [5_000, 3_600_000];

/**
 * Events that wait for the service, as one file each in `folder`: written, synced and renamed, and removed when the
 * service took the event or will never take it. So there is nothing to repair after a crash, and two processes of one
 * program may use the folder at once. What is sent twice has one id and counts once.
 */
export function createOutbox(folder: string, send: SendEvents): Outbox {
  let delivering: Promise<{ waiting: number }> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let stopped = false;

  /** A timer does not keep a program from ending. */
  function deliverIn(ms: number): void {
    if (stopped || timer) return;
    timer = setTimeout(() => void deliver(), ms).unref();
  }

  function deliver(): Promise<{ waiting: number }> {
    clearTimeout(timer);
    timer = undefined;
    return (delivering ??= deliverAll().finally(() => {
      delivering = undefined;
    }));
  }

  async function deliverAll(): Promise<{ waiting: number }> {
    for (;;) {
      const waiting = await readWaiting(folder);
      const batch = firstBatch(waiting);
      if (batch.length === 0 || stopped) return { waiting: waiting.length };
      const retry = await deliverBatch(batch);
      failures = retry ? failures + 1 : 0;
      if (retry) {
        deliverIn(Math.min(Math.max(retry.afterMs, retryMs(failures)), lastRetryMs));
        return { waiting: namesIn(folder).length };
      }
    }
  }

  /** Returns how long to wait at least before the next try, unless each event was decided about. */
  async function deliverBatch(batch: OutboxEvent[]): Promise<{ afterMs: number } | undefined> {
    const reply = await send(batch);
    if (!('status' in reply)) return { afterMs: 0 };
    const outcome = outcomeOf(reply);
    if (outcome === 'undecided') return { afterMs: (reply.retryAfter ?? 0) * 1000 };
    if (outcome === 'accepted' || batch.length === 1)
      return batch.every(({ eventId }) => removed(fileOf(folder, eventId))) ? undefined : { afterMs: 0 };
    // a batch is refused for one of its events: it is found by halves, and lost alone
    const half = Math.ceil(batch.length / 2);
    return (await deliverBatch(batch.slice(0, half))) ?? deliverBatch(batch.slice(half));
  }

  removeAbandonedDrafts(folder);
  deliverIn(0);
  return {
    add(event) {
      if (namesIn(folder).length >= mostWaiting) return false;
      if (!attempt(() => writeDurably(fileOf(folder, event.eventId), JSON.stringify(event)))) return false;
      if (failures === 0) deliverIn(0);
      return true;
    },
    deliver,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await delivering;
    },
  };
}

/**
 * Only the service's own answers decide: the sign-in page of a hotel answers 200 as well. A missing or ended token
 * (401), or one that may not make the call (403), is about the caller and not about an event.
 */
function outcomeOf({ status, text }: Reply): 'accepted' | 'rejected' | 'undecided' {
  const body = jsonObject(text) as { success?: unknown; data?: { accepted?: unknown } } | undefined;
  if (status === 200 && typeof body?.data?.accepted === 'number') return 'accepted';
  return [400, 413, 422].includes(status) && body?.success === false ? 'rejected' : 'undecided';
}

const retryMs = (failures: number) =>
  Math.min(lastRetryMs, firstRetryMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);

const fileOf = (folder: string, eventId: string) => join(folder, `${eventId}.json`);

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
}

/** False if the file is still there, as where a virus scanner holds it. */
const removed = (file: string): boolean => attempt(() => rmSync(file, { force: true }));

/** The oldest come first. A damaged file, which no crash leaves behind, is removed. */
async function readWaiting(folder: string): Promise<OutboxEvent[]> {
  const events: OutboxEvent[] = [];
  for (const name of namesIn(folder)) {
    const file = join(folder, name);
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    const event = jsonObject(text) as OutboxEvent | undefined;
    if (typeof event?.timestamp === 'string' && name === `${event.eventId}.json`) events.push(event);
    else removed(file);
  }
  return events.toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
}

function firstBatch(waiting: OutboxEvent[]): OutboxEvent[] {
  let bytes = 0;
  const tooMuch = waiting.findIndex((event, n) => {
    bytes += Buffer.byteLength(JSON.stringify(event));
    return n >= mostInBatch || bytes > mostBatchBytes;
  });
  return tooMuch < 0 ? waiting : waiting.slice(0, Math.max(1, tooMuch));
}
