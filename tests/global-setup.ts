import type { TestProject } from 'vitest/node';
import { startCluster } from './cluster.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    databaseUrl: string;
  }
}

/** Gives all tests one PostgreSQL: that of TEST_DATABASE_URL, or a temporary one for this run. It runs for each project. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const cluster = process.env.TEST_DATABASE_URL ? undefined : await startCluster();
  project.provide('databaseUrl', (process.env.TEST_DATABASE_URL ??= cluster!.url));
  return cluster?.stop;
}
