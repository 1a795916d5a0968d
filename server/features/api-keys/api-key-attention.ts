import { sql, type RawBuilder } from 'kysely';
import { daysFrom, hourMs } from '../../../contract/durations.ts';
import type { ApiKeyAttention } from '../../../contract/api-keys.ts';
import { apiKeyAttentions } from '../../../contract/list-words.ts';
import { todayLimits } from '../../../contract/today.ts';
import { isWithin } from '../../checked-time.ts';
import type { Db } from '../../db/client.ts';

/** The condition for a key `k` that still works. */
export const isUsable = (now: Date) =>
  sql<boolean>`(k.is_active and k.revoked_at is null and (k.expires_at is null or k.expires_at > ${now}))`;

/** The filter `attention` of the list, for the key `k`. Refused keys include those that no longer work. */
export const apiKeyAttention: Record<ApiKeyAttention, (now: Date) => RawBuilder<boolean>> = {
  ending: (now) => sql`(${isUsable(now)} and k.expires_at <= ${daysFrom(now, todayLimits.keysEndingDays)})`,
  refused: (now) => {
    const since = new Date(now.getTime() - todayLimits.keysRefusedHours * hourMs);
    return sql`exists (select from audit_entries e where e.resource_id = k.api_key_id::text
      and ${isWithin('e.timestamp', since, now)} and e.event_type = 'api_key.refused')`;
  },
  limited: (now) => {
    const previousHour = new Date(Math.floor(now.getTime() / hourMs) * hourMs - hourMs);
    // the limits of its other budgets are settings: told_at says that one was reached
    return sql`(${isUsable(now)} and exists (select from budget_hours b
      where b.subject = k.api_key_id::text and ${isWithin('b.hour', previousHour, now)}
        and (b.told_at is not null or (b.budget = 'requests' and b.granted >= k.rate_limit))))`;
  },
};

/** The keys that need a person, by the reason, and the one of them that expires first. */
export async function apiKeysForToday(db: Db, now: Date) {
  const found = await Promise.all(
    apiKeyAttentions.map(async (reason) => {
      const { rows } = await sql<{ id: string; name: string; at: Date | null; count: number }>`
        select k.api_key_id as id, k.name, k.expires_at as at, count(*) over () as count from api_keys k
         where ${apiKeyAttention[reason](now)} order by k.expires_at nulls last, k.api_key_id limit 1`.execute(
        db,
      );
      const [first] = rows;
      const next = first && { id: first.id, name: first.name, at: first.at?.toISOString() ?? null };
      return [reason, { count: first?.count ?? 0, next: next ?? null }] as const;
    }),
  );
  return Object.fromEntries(found) as Record<ApiKeyAttention, (typeof found)[number][1]>;
}
