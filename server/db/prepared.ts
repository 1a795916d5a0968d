import type { CompiledQuery } from 'kysely';
import type { Pool } from 'pg';

/** Each connection keeps its prepared statements; beyond this number of shapes, queries run unprepared. */
const mostShapes = 200;
const names = new Map<string, string>();

/**
 * Runs a query as a named statement, so that a connection parses and plans its shape once. For frequent queries whose
 * best plan does not depend on the parameters, unlike a pattern search.
 */
export async function runPrepared<Row>(pool: Pool, query: CompiledQuery<Row>): Promise<Row[]> {
  let name = names.get(query.sql);
  if (name === undefined && names.size < mostShapes) {
    name = `lanyard_${names.size}`;
    names.set(query.sql, name);
  }
  const { rows } = await pool.query({
    ...(name ? { name } : {}),
    text: query.sql,
    values: [...query.parameters],
  });
  return rows as Row[];
}
