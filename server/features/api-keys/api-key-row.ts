import { sql } from 'kysely';
import { lacksForScope, type ApiKey } from '../../../contract/api-keys.ts';
import type { Db } from '../../db/client.ts';
import { permissionsOfUser } from '../../db/sql.ts';

/** Selects keys with their creators, as needed by all responses about keys. */
export function selectApiKeys(db: Db) {
  return db
    .selectFrom('api_keys as k')
    .leftJoin('users as u', 'u.user_id', 'k.created_by')
    .selectAll('k')
    .select(['u.user_id as maker_id', 'u.status as maker_status'])
    .select(sql<string | null>`coalesce(u.email, k.maker_email)`.as('maker_name'))
    .select(permissionsOfUser);
}

type Row = Awaited<ReturnType<ReturnType<typeof selectApiKeys>['executeTakeFirstOrThrow']>>;

export function toApiKey(row: Row): ApiKey {
  return {
    id: row.api_key_id,
    name: row.name,
    keyPrefix: row.key_prefix,
    isActive: row.is_active,
    revokedAt: row.revoked_at?.toISOString() ?? null,
    scopes: row.scopes,
    expiresAt: row.expires_at?.toISOString() ?? null,
    rateLimit: row.rate_limit,
    ipWhitelist: row.ip_whitelist,
    totalRequests: row.total_requests,
    createdAt: row.created_at.toISOString(),
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
    lastUsedIp: row.last_used_ip,
    maker: makerOf(row),
    updatedAt: row.updated_at.toISOString(),
  };
}

function makerOf(row: Row): ApiKey['maker'] {
  if (row.maker_name === null) return null;
  return {
    userId: row.maker_id,
    email: row.maker_name,
    status: row.maker_status ?? 'deleted',
    lacks: [...new Set(row.scopes.flatMap((scope) => lacksForScope(scope, row.permissions)))],
  };
}

/** The fields of a key in audit entries, without the creator: that is the actor of the first entry. */
export function audited(apiKey: ApiKey): Omit<ApiKey, 'maker'> {
  const { maker: _, ...kept } = apiKey;
  return kept;
}
