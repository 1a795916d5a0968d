import type { Module } from '../../../contract/modules.ts';
import type { Context } from '../../context.ts';
import { createCache } from '../../db/cache.ts';
import type { Db } from '../../db/client.ts';

/** All modules, sorted by id; the console groups them by category. */
export async function listModules(db: Db): Promise<Module[]> {
  const rows = await db.selectFrom('modules').selectAll().orderBy('module_id').execute();
  return rows.map((row) => ({
    moduleId: row.module_id,
    name: row.name,
    description: row.description,
    metadata: row.category === null ? {} : { category: row.category },
  }));
}

/** Names of modules by id, cached for a minute: only a migration changes them. */
export function createModuleNames({ db, signals }: Pick<Context, 'db' | 'signals'>) {
  const cached = createCache<Map<string, string>>(signals, undefined, { max: 1, ttlMs: 60_000 });
  return () => cached('all', async () => new Map((await listModules(db)).map((m) => [m.moduleId, m.name])));
}

/** The ids that belong to no module. */
export async function unknownModules(db: Db, moduleIds: string[]): Promise<string[]> {
  if (moduleIds.length === 0) return [];
  const rows = await db
    .selectFrom('modules')
    .select('module_id')
    .where('module_id', 'in', moduleIds)
    .execute();
  const known = new Set(rows.map((row) => row.module_id));
  return moduleIds.filter((id) => !known.has(id));
}
