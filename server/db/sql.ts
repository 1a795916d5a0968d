import { sql, type RawBuilder } from 'kysely';

/** Whether the text contains `term`, ignoring case and accents; wildcards in the term are escaped. */
export const contains = (text: RawBuilder<unknown>, term: string): RawBuilder<boolean> =>
  sql<boolean>`search_fold(${text}) like search_pattern(${term})`;

/**
 * Matches activations by host name or by a fragment of the machine id. Undefined for terms of one or two characters,
 * which no index supports and nearly every machine matches.
 */
export const onMachinesFoundBy = (term: string): RawBuilder<boolean> | undefined =>
  term.length < 3
    ? undefined
    : sql<boolean>`machine_search_text(machine_id, hostname) like search_pattern(${term})`;

/**
 * The LIKE pattern for `term` anywhere in lower-case text; wildcards are escaped. The database converts it to lower
 * case, since its rules for İ or Σ differ from JavaScript's. For texts too large to unaccent; elsewhere use `contains`.
 */
export function containsPattern(term: string): RawBuilder<string> {
  return sql`lower(${`%${term.replaceAll(/[\\%_]/g, '\\$&')}%`})`;
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
