import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import type { Access } from '../../../contract/route.ts';
import { isSecretOf, readBearerKey } from '../../bearer-keys.ts';
import type { Budget } from '../../budgets.ts';
import type { EnrolledMachine } from '../../caller.ts';
import type { Context } from '../../context.ts';
import { batchLoader } from '../../db/batch-loader.ts';
import { createCache } from '../../db/cache.ts';
import { fail, type Failure } from '../../failure.ts';
import { machineHashOf } from '../update-events/index.ts';

const hourMs = 3_600_000;

type Parts = Pick<Context, 'signals' | 'clock' | 'config'> & { reserved: Pick<Context['reserved'], 'pool'> };
/** `isUnknown`: somebody may be guessing, or using a token that was replaced. */
type Checked =
  | { machine: EnrolledMachine | Failure; budget?: Budget; isUnknown?: undefined }
  | { machine: Failure; budget?: undefined; isUnknown: true };

export type MachineCheck = ReturnType<typeof createMachineCheck>;

/**
 * Authenticates machines by token: checks secret, seat, license and customer, and the hourly limit of the machine, which
 * each process counts in memory.
 */
export function createMachineCheck({ reserved, signals, clock, config }: Parts) {
  const cached = createCache<Known | undefined>(signals, 'credentials', { max: 50_000, ttlMs: 60_000 });
  const find = createFinder(reserved.pool);
  const used = new LRUCache<string, { hour: number; requests: number }>({ max: 100_000 });

  function take(activationId: string): Budget & { resetSeconds: number } {
    const now = clock().getTime();
    const hour = Math.floor(now / hourMs);
    const before = used.get(activationId);
    const requests = (before?.hour === hour ? before.requests : 0) + 1;
    used.set(activationId, { hour, requests });
    const limit = config.machineRequestsPerHour;
    return {
      allowed: requests <= limit,
      limit,
      remaining: Math.max(0, limit - requests),
      resetSeconds: Math.ceil(((hour + 1) * hourMs - now) / 1000),
    };
  }

  /** The machine with the remaining requests of its hour, or why the token is refused for a call with that access. */
  async function check(presented: string, access: Access): Promise<Checked> {
    const { id, secret } = readBearerKey('lym', presented);
    const known = id === undefined ? undefined : await cached(id, () => find(id));
    if (!isSecretOf(known?.secretHash, secret) || !known) return { machine: unknown, isUnknown: true };
    const forUpdates = access.kind === 'staff' && access.apiKey === 'updates';
    const ended = endedBecause(known, forUpdates && config.updatesAfterRevocation);
    if (ended) return { machine: fail('UNAUTHENTICATED', ended) };
    const budget = take(known.machine.activationId);
    if (budget.allowed) return { machine: known.machine, budget };
    const message = `The machine has used its ${budget.limit} requests of this hour.`;
    return { machine: fail('TOO_MANY_REQUESTS', message, { retryAfter: budget.resetSeconds }), budget };
  }

  return { check };
}

const unknown = fail(
  'UNAUTHENTICATED',
  'The machine token is not known: it was replaced, or the machine gave up its seat. Enroll the machine again.',
);

/** Why a token does not count for now; undefined if it does. */
function endedBecause({ isRevoked, customer }: Known, evenIfWithdrawn: boolean): string | undefined {
  if (customer === 'deleted') return 'The customer of this machine has been deleted.';
  if (evenIfWithdrawn) return undefined;
  if (customer === 'inactive') return 'The customer of this machine is not active.';
  return isRevoked ? 'The license of this machine has been revoked.' : undefined;
}

type Known = {
  machine: EnrolledMachine;
  secretHash: Buffer;
  isRevoked: boolean;
  customer: 'active' | 'inactive' | 'deleted';
};

type Row = {
  activation_id: string;
  license_id: string;
  license_key: string;
  machine_id: string;
  secret_hash: Buffer;
  own_hash: Buffer | null;
  license_status: 'active' | 'revoked';
  customer_status: 'active' | 'inactive';
  deleted_at: Date | null;
  place: number;
};

/** Named, so that PostgreSQL plans it once per connection: most machines check once a day, so each check misses. */
const findQuery = {
  name: 'credentials-find',
  text: `select m.secret_hash, m.own_hash, a.activation_id, a.machine_id, l.license_id, l.license_key,
                l.status as license_status, c.status as customer_status, c.deleted_at, asked.place::int
           from unnest($1::text[]) with ordinality as asked (token_id, place)
           join machine_credentials m using (token_id)
           join activations a on a.activation_id = m.activation_id and a.status = 'active'
           join licenses l using (license_id)
           join customers c using (customer_id)`,
};

/** Finds the machine of a token id. Concurrent checks share a query. */
function createFinder(pool: Pool): (tokenId: string) => Promise<Known | undefined> {
  return batchLoader(async (asked) => {
    const found: (Known | undefined)[] = asked.map(() => undefined);
    const { rows } = await pool.query<Row>({ ...findQuery, values: [asked] });
    for (const row of rows) found[row.place - 1] = toKnown(row);
    return found;
  });
}

const toKnown = (row: Row): Known => ({
  machine: {
    kind: 'machine',
    activationId: row.activation_id,
    licenseId: row.license_id,
    licenseKey: row.license_key,
    machineId: row.machine_id,
    machineHash: row.own_hash?.toString('hex') ?? machineHashOf(row.machine_id),
    scopes: ['validate', 'updates'],
  },
  secretHash: row.secret_hash,
  isRevoked: row.license_status === 'revoked',
  customer: row.deleted_at ? 'deleted' : row.customer_status,
});
