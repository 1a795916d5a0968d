import { sql } from 'kysely';
import { dayMs, hourMs } from '../contract/durations.ts';
import type { Caller } from './caller.ts';
import { runChange, systemChange, type Change, type ChangeParts } from './change.ts';
import { clearBefore } from './checked-time.ts';
import { onlyReads } from './db/client.ts';

/** How long a process may hold unused units, and how long a refusal is cached. */
const idleMs = 500;
const refusedMs = 200;
const largestGrant = 500;
const askAgainAt = 250;

type BudgetName = 'requests' | 'events' | 'new machines' | 'enrollments' | 'refused enrollments';

/** The budget, the id it applies to, and the units per hour. */
export type BudgetOf = { budget: BudgetName; subject: string; limit: number };

type Hour = Omit<BudgetOf, 'limit'> & {
  start: number;
  /** Granted by the database and not yet used. */
  left: number;
  /** Granted to all processes, as last reported by the database. */
  granted: number;
  /** The smallest count that the database refused, and until when to rely on it: a smaller count may still succeed. */
  refused: number;
  refusedUntil: number;
  /** The database does not know of the remaining units, because it took no writes. */
  isUncounted: boolean;
  lastUsed: number;
  asking: Promise<void> | undefined;
  isTold: boolean;
};

/** Blocks shrink near the limit, so that any process can use the last units. */
const blockOf = (hour: Hour, limit: number) =>
  Math.max(1, Math.min(largestGrant, Math.floor((limit - hour.granted) / 20)));

export type Budget = { allowed: boolean; limit: number; remaining: number; resetSeconds: number };
export type Budgets = ReturnType<typeof createBudgets>;

/**
 * Hourly budgets that hold exactly across processes without a write per request. The database grants units to a process
 * in blocks, which shrink near the limit down to single units; unused units are returned. While the database takes no
 * writes, each process enforces the limit alone.
 */
export function createBudgets(parts: ChangeParts, clock: () => Date) {
  const hours = new Map<string, Hour>();
  const refusals: Record<BudgetName, number> = {
    requests: 0,
    events: 0,
    'new machines': 0,
    enrollments: 0,
    'refused enrollments': 0,
  };
  // one at a time, so that a slow database does not take more and more connections for it
  let returning: Promise<void> | undefined;
  const timer = setInterval(() => {
    returning ??= returnIdle().finally(() => (returning = undefined));
  }, idleMs).unref();

  function hourOf({ budget, subject }: BudgetOf): Hour {
    const start = Math.floor(clock().getTime() / hourMs) * hourMs;
    const key = `${budget} ${subject}`;
    let hour = hours.get(key);
    if (hour?.start !== start) {
      const unused = { left: 0, granted: 0, refused: 0, refusedUntil: 0, isUncounted: false };
      const lastUsed = performance.now();
      hour = { budget, subject, start, ...unused, lastUsed, asking: undefined, isTold: false };
      hours.set(key, hour);
    }
    return hour;
  }

  /** Uses `count` units of the hour: all or none. */
  async function take(of: BudgetOf, count = 1): Promise<Budget> {
    const { budget, limit } = of;
    const now = clock().getTime();
    const hour = hourOf(of);
    const mayGet = (missing: number) => missing < hour.refused || performance.now() >= hour.refusedUntil;
    while (hour.left < count && mayGet(count - hour.left)) await askOnce(hour, limit, count - hour.left);
    // Far from the limit, the next block is prefetched so that no request waits for it. The request that needs the
    // block reports any error.
    if (hour.left === askAgainAt && blockOf(hour, limit) === largestGrant) {
      void askOnce(hour, limit, 1).catch(() => undefined);
    }
    // A lowered limit also applies to units granted under the old one.
    const allowed = hour.left >= count && hour.granted - hour.left + count <= limit;
    if (allowed) hour.left -= count;
    else refusals[budget]++;
    hour.lastUsed = performance.now();
    return {
      allowed,
      limit,
      remaining: Math.max(0, limit - hour.granted + hour.left),
      resetSeconds: Math.ceil((hour.start + hourMs - now) / 1000),
    };
  }

  /** Returns a unit taken after `begun` for what then was not done, unless its hour has ended. */
  function putBack(of: BudgetOf, begun: Date): void {
    const hour = hourOf(of);
    // also where the hour was idle since: the database still counts the unit
    if (begun.getTime() >= hour.start) hour.left++;
  }

  /** Runs `tell` once per hour and budget across all processes; runs it again after a failure. */
  async function tellOnce(
    by: Caller,
    of: BudgetOf,
    tell: (change: Change) => Promise<unknown>,
  ): Promise<void> {
    const hour = hourOf(of);
    if (hour.isTold) return;
    hour.isTold = true;
    try {
      await runChange(parts, by, async (change) => {
        const { rows } = await sql`
          insert into budget_hours (budget, subject, hour, granted, told_at)
          values (${hour.budget}, ${hour.subject}, ${new Date(hour.start)}, 0, ${clock()})
          on conflict (budget, subject, hour) do update set told_at = excluded.told_at
            where budget_hours.told_at is null
          returning hour`.execute(change.tx);
        if (rows.length > 0) await tell(change);
      });
    } catch (error) {
      hour.isTold = false;
      throw error;
    }
  }

  const askOnce = (hour: Hour, limit: number, missing: number): Promise<void> =>
    (hour.asking ??= ask(hour, limit, missing).finally(() => (hour.asking = undefined)));

  async function ask(hour: Hour, limit: number, missing: number): Promise<void> {
    for (const wanted of new Set([Math.max(missing, blockOf(hour, limit)), missing])) {
      const granted = await grant(parts, hour, { wanted, limit, now: clock() }).catch((error: unknown) => {
        if (!onlyReads(error)) throw error;
        // Calls that change nothing still work, so each process counts alone until the database takes writes.
        hour.isUncounted = true;
        return hour.granted + wanted <= limit ? hour.granted + wanted : undefined;
      });
      if (granted !== undefined) {
        hour.granted = granted;
        hour.left += wanted;
        return;
      }
    }
    if (missing === 1) hour.granted = limit;
    hour.refused = missing;
    hour.refusedUntil = performance.now() + refusedMs;
  }

  /** Each machine with a token has an hour of its own, so that many are given back at once. */
  async function giveBack(unused: readonly Hour[]): Promise<void> {
    if (unused.length === 0) return;
    const rows = unused.map(({ budget, subject, start, left }) => [budget, subject, new Date(start), left]);
    const columns = ['budget', 'subject', 'hour', 'unused'].map((_, at) => rows.map((row) => row[at]));
    await systemChange(parts, clock(), ({ tx }) =>
      // locked in one order, as other processes do
      sql`update budget_hours h set granted = h.granted - u.unused
            from (select budget, subject, hour, unused from budget_hours b join
                    unnest(${columns[0]}::text[], ${columns[1]}::text[], ${columns[2]}::timestamptz[], ${columns[3]}::int[])
                      as n (budget, subject, hour, unused) using (budget, subject, hour)
                   order by budget, subject for update of b) u
           where h.budget = u.budget and h.subject = u.subject and h.hour = u.hour`.execute(tx),
    );
  }

  async function returnIdle(all = false): Promise<void> {
    // What a pending request for units grants belongs to an hour that must still be found here.
    const isIdle = (hour: Hour) => !hour.asking && performance.now() - hour.lastUsed > idleMs;
    const idle = [...hours].filter(([, hour]) => all || isIdle(hour));
    // before the database takes them back: neither the next run nor a call may find them here meanwhile
    for (const [key] of idle) hours.delete(key);
    const unused = idle.map(([, hour]) => hour).filter((hour) => hour.left > 0 && !hour.isUncounted);
    // If the database is down, the blocks are lost: the limits are then too strict until the hour ends.
    await giveBack(unused).catch(() => undefined);
  }

  return {
    take,
    putBack,
    tellOnce,
    /** Refusals by this process since its start; who counts requests without the database adds its own. */
    refusals,
    stop() {
      clearInterval(timer);
      return returnIdle(true);
    },
  };
}

/** Adds `wanted` to the granted units of the hour unless that exceeds the limit. Returns the new sum, or undefined. */
async function grant(
  parts: ChangeParts,
  { budget, subject, start }: Hour,
  { wanted, limit, now }: { wanted: number; limit: number; now: Date },
): Promise<number | undefined> {
  if (wanted > limit) return undefined;
  const { rows } = await systemChange(parts, now, ({ tx }) =>
    sql<{ granted: number }>`
      insert into budget_hours (budget, subject, hour, granted)
      values (${budget}, ${subject}, ${new Date(start)}, ${wanted})
      on conflict (budget, subject, hour) do update set granted = budget_hours.granted + ${wanted}
        where budget_hours.granted + ${wanted} <= ${limit}
      returning granted`.execute(tx),
  );
  return rows[0]?.granted;
}

/** Deletes hours that began more than a day ago. */
export const clearBudgets = clearBefore('budget_hours', 'hour', dayMs);
