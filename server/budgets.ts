import type { Db } from '../../db/client.ts';
import { sql } from 'kysely';

const hourMs = 3_600_000;
/** How long a process may sit on requests it does not use, and how long an exhausted key is not asked about again. */
const idleMs = 500;
const exhaustedMs = 200;
const largestGrant = 500;
const askAgainAt = 250;

type Hour = {
  start: number;
  /** Granted by the database and not yet used. */
  left: number;
  /** Granted to all processes, as last heard. */
  granted: number;
  exhaustedUntil: number;
  lastUsed: number;
  asking: Promise<void> | undefined;
};

/** Ever smaller as the limit nears, so that the last requests are there for whichever process is asked. */
const blockOf = (hour: Hour, limit: number) =>
  Math.max(1, Math.min(largestGrant, Math.floor((limit - hour.granted) / 20)));

export type Budget = { allowed: boolean; limit: number; remaining: number; resetSeconds: number };

/**
 * Requests per hour that hold exactly across processes without a write per request: the database grants them to
 * a process in blocks, smaller as the limit nears and single at its end; what is not used goes back.
 */
export function createRateLimits(db: Db, clock: () => Date) {
  const hours = new Map<string, Hour>();
  const timer = setInterval(() => void returnIdle(), idleMs).unref();

  function hourOf(apiKeyId: string, now: number): Hour {
    const start = Math.floor(now / hourMs) * hourMs;
    let hour = hours.get(apiKeyId);
    if (hour?.start !== start) {
      hour = { start, left: 0, granted: 0, exhaustedUntil: 0, lastUsed: now, asking: undefined };
      hours.set(apiKeyId, hour);
    }
    return hour;
  }

  async function take(apiKeyId: string, limit: number): Promise<Budget> {
    const now = clock().getTime();
    const hour = hourOf(apiKeyId, now);
    while (hour.left === 0 && performance.now() >= hour.exhaustedUntil) await askOnce(apiKeyId, hour, limit);
    // Far from the limit the next block is fetched before it is needed, so that no request waits for it; what goes
    // wrong there is heard by the request that does.
    if (hour.left === askAgainAt && blockOf(hour, limit) === largestGrant) {
      void askOnce(apiKeyId, hour, limit).catch(() => undefined);
    }
    // A limit that was lowered meanwhile holds for what was granted under the old one as well.
    const allowed = hour.left > 0 && hour.granted - hour.left < limit;
    if (allowed) hour.left -= 1;
    hour.lastUsed = performance.now();
    return {
      allowed,
      limit,
      remaining: Math.max(0, limit - hour.granted + hour.left),
      resetSeconds: Math.ceil((hour.start + hourMs - now) / 1000),
    };
  }

  const askOnce = (apiKeyId: string, hour: Hour, limit: number): Promise<void> =>
    (hour.asking ??= ask(apiKeyId, hour, limit).finally(() => (hour.asking = undefined)));

  async function ask(apiKeyId: string, hour: Hour, limit: number): Promise<void> {
    const block = blockOf(hour, limit);
    for (const wanted of block > 1 ? [block, 1] : [1]) {
      const granted = await grant(db, apiKeyId, hour.start, wanted, limit);
      if (granted !== undefined) {
        hour.granted = granted;
        hour.left += wanted;
        return;
      }
    }
    hour.granted = limit;
    hour.exhaustedUntil = performance.now() + exhaustedMs;
  }

  async function giveBack(apiKeyId: string, hour: Hour): Promise<void> {
    const unused = hour.left;
    hour.left = 0;
    if (unused === 0) return;
    await sql`update api_key_hours set granted = granted - ${unused}
               where api_key_id = ${apiKeyId} and hour = ${new Date(hour.start)}`.execute(db);
  }

  async function returnIdle(all = false): Promise<void> {
    const idle = [...hours].filter(([, hour]) => all || performance.now() - hour.lastUsed > idleMs);
    for (const [apiKeyId, hour] of idle) {
      hours.delete(apiKeyId);
      // When the database is away the block is lost: the limit errs on the strict side until the hour ends.
      await giveBack(apiKeyId, hour).catch(() => undefined);
    }
  }

  return {
    /** Uses one request of the key's hour, if there is one. */
    take,
    stop() {
      clearInterval(timer);
      return returnIdle(true);
    },
  };
}

/** Adds `wanted` to what the hour has granted unless that passes the limit; the new sum, or undefined. */
async function grant(
  db: Db,
  apiKeyId: string,
  start: number,
  wanted: number,
  limit: number,
): Promise<number | undefined> {
  if (wanted > limit) return undefined;
  const { rows } = await sql<{ granted: number }>`
    insert into api_key_hours (api_key_id, hour, granted) values (${apiKeyId}, ${new Date(start)}, ${wanted})
    on conflict (api_key_id, hour) do update set granted = api_key_hours.granted + ${wanted}
      where api_key_hours.granted + ${wanted} <= ${limit}
    returning granted`.execute(db);
  return rows[0]?.granted;
}
