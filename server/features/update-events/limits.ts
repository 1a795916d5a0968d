import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { mostEvents } from '../../../contract/update-events.ts';
import { atMost } from '../../at-most.ts';
import type { Budget, BudgetOf, Budgets } from '../../budgets.ts';
import type { ApiKeyHolder, Caller } from '../../caller.ts';
import type { Context } from '../../context.ts';
import type { Db } from '../../db/client.ts';
import { fail, type Failure } from '../../failure.ts';
import type { UpdateEvent, Recorded } from './update-event.ts';

/** Cached known machines, whose reports then need no query. */
const mostKnown = 100_000;

/**
 * Limits of one API key per hour: the number of events, and of new machines in reports, feeds or downloads. Staff are
 * exempt.
 */
export function createUpdateLimits({ db, config }: Pick<Context, 'db' | 'config'>, budgets: Budgets) {
  /** Machines are never removed from the database. */
  const known = new LRUCache<string, true>(atMost(mostKnown));
  let lastSpending: Promise<unknown> = Promise.resolve();

  async function unknownOf(hashes: readonly string[]): Promise<Set<string>> {
    const asked = hashes.filter((hash) => !known.has(hash));
    const found = asked.length === 0 ? [] : await findMachines(db, asked);
    const unknown = new Set(asked);
    for (const hash of found) unknown.delete(hash);
    for (const hash of hashes) if (!unknown.has(hash)) known.set(hash, true);
    return unknown;
  }

  /** Takes these new machines from the budget, all or none. Serialized, so that no machine is counted twice. */
  function spendOnMachines(
    by: Caller,
    key: ApiKeyHolder,
    unknown: Iterable<string>,
  ): Promise<Failure | undefined> {
    const spending = lastSpending.then(async () => {
      const uncounted = [...unknown].filter((hash) => !known.has(hash));
      const refused = uncounted.length > 0 && (await spend(by, key, 'new machines', uncounted.length));
      if (refused) return refused;
      for (const hash of uncounted) known.set(hash, true);
      return undefined;
    });
    lastSpending = spending.catch(() => undefined);
    return spending;
  }

  async function spend(
    by: Caller,
    { apiKeyId, name }: ApiKeyHolder,
    budget: 'events' | 'new machines',
    count: number,
  ): Promise<Failure | undefined> {
    const limit = budget === 'events' ? config.eventsPerKeyHour : config.newMachinesPerKeyHour;
    const of: BudgetOf = { budget, subject: apiKeyId, limit };
    // a report that names more than the limit fits into an hour of which nothing is used: else it could never be taken
    const taken = await budgets.take({ ...of, limit: Math.max(limit, count) }, count);
    if (taken.allowed) return undefined;
    const subject = { id: apiKeyId, name };
    const what = `reached its limit of ${limit} ${budget} an hour`;
    const error = 'More of them are not recorded until the hour ends.';
    await budgets.tellOnce(by, of, ({ audit }) => audit('api_key.limit_reached', subject, { what, error }));
    return refusalOf(of, taken, count);
  }

  /** A machine may report as many events as it may make requests; the largest report always fits into an hour. */
  async function spendOfMachine(subject: string, count: number): Promise<Failure | undefined> {
    const limit = Math.max(config.machineRequestsPerHour, mostEvents);
    const of: BudgetOf = { budget: 'events', subject, limit };
    const taken = await budgets.take(of, count);
    return taken.allowed ? undefined : refusalOf(of, taken, count, 'The machine');
  }

  return {
    /** Takes a report from the budgets of the API key, or returns why the whole report is refused. */
    async take(by: Caller, reported: readonly UpdateEvent[]): Promise<Failure | undefined> {
      const key = by.actor;
      if (key.kind === 'machine') return spendOfMachine(key.activationId, reported.length);
      if (key.kind !== 'apiKey') return undefined;
      const unknown = await unknownOf([...new Set(reported.map((event) => event.machineHash))]);
      return (await spendOnMachines(by, key, unknown)) ?? spend(by, key, 'events', reported.length);
    },

    /** The events to write, without unreported ones of machines beyond the budget. */
    async withinBudget(rows: readonly Recorded[]): Promise<UpdateEvent[]> {
      const seen = rows.filter(({ by, happening: event }) => by.actor.kind === 'apiKey' && !event.reported);
      const unknown = await unknownOf([...new Set(seen.map(({ happening: event }) => event.machineHash))]);
      const kept: UpdateEvent[] = [];
      for (const { by, happening: event } of rows) {
        const { reported, machineHash } = event;
        if (reported || !unknown.has(machineHash) || by.actor.kind !== 'apiKey') kept.push(event);
        else if (!(await spendOnMachines(by, by.actor, [machineHash]))) {
          unknown.delete(machineHash);
          kept.push(event);
        }
      }
      return kept;
    },
  };
}

const refusalOf = (
  { budget, limit }: BudgetOf,
  { resetSeconds }: Budget,
  count: number,
  who = 'The API key',
): Failure =>
  fail(
    'TOO_MANY_REQUESTS',
    `${who} may ${budget === 'events' ? 'report' : 'name'} ${limit} ${budget} an hour, and fewer than the ${count} ` +
      'of this report are left. Nothing of it was taken; send it again later.',
    { retryAfter: resetSeconds },
  );

async function findMachines(db: Db, hashes: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ hash: string }>`
    select encode(machine_hash, 'hex') as hash from machines
     where machine_hash = any(select decode(h, 'hex') from unnest(${hashes}::text[]) as m (h))`.execute(db);
  return rows.map(({ hash }) => hash);
}
