import { sql, type RawBuilder, type SelectQueryBuilder } from 'kysely';
import type { Permission } from '../../contract/permissions.ts';

/** Whether the text contains `term`, ignoring case and accents; wildcards in the term are escaped. */
export const contains = (text: RawBuilder<unknown>, term: string): RawBuilder<boolean> =>
  containsFolded(sql`search_fold(${text})`, term);

/** The same for a text that is folded already. */
export const containsFolded = (folded: RawBuilder<unknown>, term: string): RawBuilder<boolean> =>
  sql<boolean>`(${sql.join(
    sigmaForms(term).map((form) => sql`${folded} like search_pattern(${form})`),
    sql` or `,
  )})`;

/**
 * A text as the database may hold it in lower case: from ΕΥΑΓΓΕΛΙΣΜΟΣ it makes a σ at the end, where a name in lower case
 * has ς.
 */
export function sigmaForms(text: string): string[] {
  const lower = text.toLowerCase();
  return /[σς]/.test(lower) ? [lower, lower.replaceAll('ς', 'σ')] : [text];
}

/**
 * Matches activations by host name or by a fragment of the machine id. Undefined for terms of one or two characters,
 * which no index supports and nearly every machine matches.
 */
export const onMachinesFoundBy = (term: string): RawBuilder<boolean> | undefined =>
  term.length < 3 ? undefined : containsFolded(sql`machine_search_text(machine_id, hostname)`, term);

/** The hash of the machine id of `table`, also where the machine has a record of its own. */
export const idHash = (table: string): RawBuilder<Buffer> => sql.raw(`machine_hash(${table}.machine_id)`);

/**
 * The hash of the machine record of an activation or refusal: that of its machine id, unless its credential has a record
 * of its own (docs/decisions/046-machine-credentials.md). As text, for statements that are prepared.
 */
export const recordHashText = (credential: string, activation: string): string =>
  `coalesce(${credential}.own_hash, machine_hash(${activation}.machine_id))`;

/** The same as part of a statement. */
export const recordHash = (credential: string, activation: string): RawBuilder<Buffer> =>
  sql.raw(recordHashText(credential, activation));

/** The ids of the activations whose machine id, or record of their own, has that hash, by the indexes. */
export const activationsWithHash = (hash: RawBuilder<unknown> | Buffer): RawBuilder<string> => sql`
  select activation_id from activations where machine_hash(machine_id) = ${hash}
  union all select activation_id from machine_credentials where own_hash = ${hash}`;

/**
 * The activations of the machine record with that hash, as a table: those of its machine id, without those that have a
 * record of their own, or the one that this record belongs to (docs/decisions/046-machine-credentials.md). The hash
 * must not be a column of a table named `held` or `own`.
 */
export const activationsOfRecord = (hash: RawBuilder<unknown>): RawBuilder<unknown> => sql`(
  select held.* from activations held
   where machine_hash(held.machine_id) = ${hash}
     and not exists (select from machine_credentials own
                      where own.activation_id = held.activation_id and own.own_hash is not null)
  union all
  select held.* from activations held join machine_credentials own using (activation_id)
   where own.own_hash = ${hash})`;

/** Whether an activation `a` is of the owner of its license `l`: its seat did not end while that was another's. */
export const isOfOwner = sql<boolean>`
  (a.status = 'active' or l.customer_id = coalesce((
    select p.customer_id from past_license_owners p where p.license_id = l.license_id and p.until > a.updated_at
     order by p.until limit 1), l.customer_id))`;

/**
 * When a machine last validated or asked for updates, by its record `m`: the expression of the index, up to five minutes
 * behind the seat.
 */
export const heardOf = sql<Date>`greatest(m.last_seen, m.validated_at)`;

/** The same to the moment: with when its seat was last checked. */
export const lastSeenOf = (checked: RawBuilder<unknown>): RawBuilder<Date> =>
  sql<Date>`greatest(${heardOf}, ${checked})`;

/** A column with a version of ours, as a machine may report it without build metadata (`reportedAs`). */
export const plainVersion = (version: RawBuilder<unknown>) => sql<string>`split_part(${version}, '+', 1)`;

/**
 * The release that a machine runs, by the version and platform that it said: of exactly that version, by the index, else
 * one with build metadata; a published one before a draft.
 */
export const releaseRun = (
  version: RawBuilder<unknown>,
  platform: RawBuilder<unknown>,
  architecture: RawBuilder<unknown>,
): RawBuilder<unknown> => {
  const of = (released: RawBuilder<unknown>, where = sql`true`) => sql`(
    select release_id from releases
     where ${where} and ${released} = ${version} and platform = ${platform} and architecture = ${architecture}
       and deleted_at is null
     order by is_draft, created_at desc limit 1)`;
  // looked at once, where otherwise all releases would be for each machine whose version is none of them
  const anyBuilds = sql`exists (select from releases where version like '%+%')`;
  return sql`coalesce(${of(sql`version`)}, ${of(plainVersion(sql`version`), anyBuilds)})`;
};

/**
 * The LIKE pattern for `term` anywhere in lower-case text; wildcards are escaped. The database converts it to lower
 * case, since its rules for İ or Σ differ from JavaScript's. For texts too large to unaccent; elsewhere use `contains`.
 */
export function containsPattern(term: string): RawBuilder<string> {
  return sql`lower(${`%${term.replaceAll(/[\\%_]/g, '\\$&')}%`})`;
}

/** `= any(…)` keeps one prepared statement for any number of ids. */
export const anyOf = (ids: readonly string[]) => sql<string>`any(${ids}::uuid[])`;

/** How many rows a query finds; it must not select columns. */
export async function countOf<DB, TB extends keyof DB>(
  query: SelectQueryBuilder<DB, TB, object>,
): Promise<number> {
  const counted = query.select(sql`count(*)`.as('count')).$castTo<{ count: number }>();
  return (await counted.executeTakeFirstOrThrow()).count;
}

/** Whether a query finds a row. */
export async function exists<DB, TB extends keyof DB>(
  query: SelectQueryBuilder<DB, TB, object>,
): Promise<boolean> {
  const found = query.select(sql`1`.as('found')).limit(1);
  return (await found.execute()).length > 0;
}

/** `order by` with nulls last in both directions. */
export function orderBy(expression: RawBuilder<unknown>, descending: boolean): RawBuilder<unknown> {
  return descending ? sql`${expression} desc nulls last` : sql`${expression} asc nulls last`;
}

/**
 * The next version of a record: now, or one millisecond after the stored version if the clock has not advanced, so that
 * versions are unique.
 */
export function nextUpdatedAt(stored: Date, now: Date): Date {
  return new Date(Math.max(now.getTime(), stored.getTime() + 1));
}

/** The same for a row that was not read. */
export const laterThan = (now: Date) => sql<Date>`greatest(updated_at + interval '1 ms', ${now})`;

const granted = sql<Permission[]>`coalesce(
  (select json_agg(distinct jsonb_build_object('resource', p.resource, 'action', p.action))
    from user_roles r join role_permissions p using (role_id) where r.user_id = u.user_id), '[]')`;

/** The permissions of the user `u`, who may be held back. */
export const permissionsOfUser = granted.as('permissions');

const lacksSecondFactor = sql<boolean>`u.totp_confirmed_at is null and exists (
  select 1 from user_roles r join roles using (role_id)
    where r.user_id = u.user_id and requires_second_factor)`;

/** Whether a role of the user `u` requires a second factor, and there is none: then the user may do nothing. */
export const secondFactorMissing = lacksSecondFactor.as('second_factor_missing');

/** What the user `u` may do at present: nothing while a required second factor or own password is missing. */
export const presentPermissions = ({ requireOwnPassword }: { requireOwnPassword: boolean }) =>
  sql<Permission[]>`case when (${requireOwnPassword} and not u.password_is_own) or (${lacksSecondFactor})
    then '[]' else ${granted} end`.as('permissions');
