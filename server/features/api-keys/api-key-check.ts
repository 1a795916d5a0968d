import { sql, type Selectable } from 'kysely';
import { isSecretOf, readBearerKey } from '../../bearer-keys.ts';
import type { Budget, Budgets } from '../../budgets.ts';
import type { ApiKeyHolder } from '../../caller.ts';
import type { Context } from '../../context.ts';
import { createCache } from '../../db/cache.ts';
import type { Db, Tx } from '../../db/client.ts';
import { inKeyOrder } from '../../db/key-order.ts';
import type { Tables } from '../../db/tables.ts';
import type { WriteBehind } from '../../db/write-behind.ts';
import { fail, type Failure } from '../../failure.ts';
import { createIpCheck } from '../../ip-list.ts';

type Row = Selectable<Tables['api_keys']>;
type CheckContext = Pick<Context, 'signals' | 'clock'> & { reserved: Pick<Context['reserved'], 'db'> };

export type ApiKeyCheck = ReturnType<typeof createApiKeyCheck>;

/** Authenticates API keys: checks secret, state, address and hourly limit, and counts their use in batches. */
export function createApiKeyCheck(
  { reserved, signals, clock }: CheckContext,
  budgets: Budgets,
  behind: WriteBehind,
) {
  const cached = createCache<Known | undefined>(signals, 'apiKeys', { max: 10_000, ttlMs: 60_000 });
  const usage = behind.queue<Use>('api-key-usage', async (uses, once) => {
    await once((tx) => writeUsage(tx, uses));
  });

  return async (presented: string, ip: string): Promise<Checked> => {
    const { id, secret } = readBearerKey('lyd', presented);
    const known = id === undefined ? undefined : await cached(id, () => find(reserved.db, id));
    const proven = isSecretOf(known?.row.secret_hash, secret);
    if (!known || !proven) return attacked('api_key_unknown', undefined, 'The API key is not known.');
    const { row, allows } = known;
    if (row.revoked_at) return attacked('api_key_revoked', row, 'The API key has been revoked.');
    if (!row.is_active) return attacked('api_key_inactive', row, 'The API key is not active.');
    if (row.expires_at && row.expires_at <= clock())
      return attacked('api_key_expired', row, 'The API key has expired.');
    if (!allows(ip))
      return attacked('api_key_address', row, 'The API key may not be used from this address.');
    const limit = row.rate_limit;
    const budget = await budgets.take({ budget: 'requests', subject: row.api_key_id, limit });
    if (!budget.allowed) {
      const message = `The API key has used its ${limit} requests of this hour.`;
      return { holder: fail('TOO_MANY_REQUESTS', message, { retryAfter: budget.resetSeconds }), budget };
    }
    const { api_key_id: apiKeyId, name, scopes } = row;
    usage.add({ apiKeyId, at: clock(), ip });
    return { holder: { kind: 'apiKey', apiKeyId, name, scopes }, budget };
  };
}

/** A refused key that may be compromised, for the audit log. */
export type KeyAttack = {
  kind: 'api_key_unknown' | 'api_key_revoked' | 'api_key_inactive' | 'api_key_expired' | 'api_key_address';
  apiKey: { id: string; name: string } | undefined;
  message: string;
};
/** The holder of a key with the remaining calls of the hour, or why the key is refused. */
type Checked = { holder: ApiKeyHolder | Failure; budget?: Budget; attack?: KeyAttack };

function attacked(kind: KeyAttack['kind'], row: Row | undefined, message: string): Checked {
  const apiKey = row && { id: row.api_key_id, name: row.name };
  const code = kind === 'api_key_address' ? 'FORBIDDEN' : 'UNAUTHENTICATED';
  return { holder: fail(code, message), attack: { kind, apiKey, message } };
}

type Known = { row: Row; allows: (ip: string) => boolean };
type Use = { apiKeyId: string; at: Date; ip: string };

async function find(db: Db, prefix: string): Promise<Known | undefined> {
  const row = await db.selectFrom('api_keys').selectAll().where('key_prefix', '=', prefix).executeTakeFirst();
  return row && { row, allows: createIpCheck(row.ip_whitelist) };
}

async function writeUsage(tx: Tx, uses: Use[]): Promise<void> {
  const sums = new Map<string, { requests: number; last: Use }>();
  for (const use of uses) {
    const sum = sums.get(use.apiKeyId) ?? { requests: 0, last: use };
    sums.set(use.apiKeyId, { requests: sum.requests + 1, last: use.at >= sum.last.at ? use : sum.last });
  }
  const sorted = inKeyOrder(sums);
  const ids = sorted.map(([id]) => id);
  const last = sorted.map(([, sum]) => sum.last);
  await sql`
    update api_keys k
       set total_requests = k.total_requests + used.requests,
           last_used_ip = case when k.last_used_at > used.last then k.last_used_ip else used.ip end,
           last_used_at = greatest(k.last_used_at, used.last)
      from (select * from unnest(${ids}::uuid[], ${sorted.map(([, sum]) => sum.requests)}::bigint[],
                                 ${last.map(({ at }) => at)}::timestamptz[], ${last.map(({ ip }) => ip)}::text[])
              as u (id, requests, last, ip)) used
     where k.api_key_id = used.id`.execute(tx);
}
