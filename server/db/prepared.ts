import type { CompiledQuery } from 'kysely';
import type { CustomTypesConfig, Pool } from 'pg';

/** Each connection keeps its prepared statements; beyond this number of shapes, queries run unprepared. */
const mostShapes = 200;
const names = new Map<string, string>();

/** The name under which every connection keeps a statement; undefined for one shape too many. */
export function statementName(text: string): string | undefined {
  if (!names.has(text) && names.size < mostShapes) names.set(text, `lanyard_${names.size}`);
  return names.get(text);
}

/**
 * Runs a query as a named statement, so that a connection parses and plans its shape once. For frequent queries whose
 * best plan does not depend on the parameters, unlike a pattern search. `types` are the parsers of its columns.
 */
export async function runPrepared<Row>(
  pool: Pool,
  query: CompiledQuery<Row>,
  types?: CustomTypesConfig,
): Promise<Row[]> {
  const name = statementName(query.sql);
  const { rows } = await pool.query({
    ...(name ? { name } : {}),
    ...(types ? { types } : {}),
    text: query.sql,
    values: [...query.parameters],
  });
  return rows as Row[];
}
