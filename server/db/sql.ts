import { sql, type RawBuilder } from 'kysely';

/** Whether the text holds `term`, whatever the case and the accents; wildcards in the term are taken literally. */
export const contains = (text: RawBuilder<unknown>, term: string): RawBuilder<boolean> =>
  sql<boolean>`search_fold(${text}) like search_pattern(${term})`;

/**
 * Activations of machines found by host name or by a fragment of the id that they send. Undefined for a term of one or
 * two characters, which no index finds and nearly every machine holds.
 */
export const onMachinesFoundBy = (term: string): RawBuilder<boolean> | undefined =>
  term.length < 3
    ? undefined
    : sql<boolean>`machine_search_text(machine_id, hostname) like search_pattern(${term})`;

/**
 * The LIKE pattern that finds `term` anywhere in lower-case text; wildcards in it are taken literally. The
 * database lowers it, as it lowered the text: its rules for İ or Σ are not JavaScript's. For text that is too much to
 * fold; elsewhere `contains`.
 */
export function containsPattern(term: string): RawBuilder<string> {
  return sql`lower(${`%${term.replaceAll(/[\\%_]/g, '\\$&')}%`})`;
}

/** `order by` with nulls last in both directions. */
export function orderBy(expression: RawBuilder<unknown>, descending: boolean): RawBuilder<unknown> {
  return descending ? sql`${expression} desc nulls last` : sql`${expression} asc nulls last`;
}

/**
 * The next version of a record: now, or a millisecond after the stored version where the clock has not moved
 * on, so that two changes never share one.
 */
export function nextUpdatedAt(stored: Date, now: Date): Date {
  return new Date(Math.max(now.getTime(), stored.getTime() + 1));
}
