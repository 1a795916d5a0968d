import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEmbedded } from '../server/db/embedded.ts';
import { grantToTests } from './superuser.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    databaseUrl: string;
  }
}

// A test database need not outlive a power cut, and is several times faster without the care for one.
const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' };

/** Gives all tests one PostgreSQL: that of TEST_DATABASE_URL, or one of our own for the time of the run. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env.TEST_DATABASE_URL;
  if (given) {
    project.provide('databaseUrl', given);
    return undefined;
  }
  const folder = await mkdtemp(join(tmpdir(), 'lanyard-test-'));
  await chmod(folder, 0o755);
  const database = await startEmbedded(folder, { exclusive: true, log: () => {}, settings });
  await grantToTests(folder, database.url);
  project.provide('databaseUrl', database.url);
  return async () => {
    await database.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
