import { sql, type RawBuilder } from 'kysely';

/**
 * The LIKE pattern that finds `term` anywhere in lower-case text; wildcards in it are taken literally. The
 * database lowers it, as it lowered the text: its rules for İ or Σ are not JavaScript's.
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
export function nextVersion(stored: Date, now: Date): Date {
  return new Date(Math.max(now.getTime(), stored.getTime() + 1));
}
