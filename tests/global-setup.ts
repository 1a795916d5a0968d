import type { TestProject } from 'vitest/node';
import { startCluster } from './cluster.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    databaseUrl: string;
  }
}

/** Gives all tests one PostgreSQL: that of TEST_DATABASE_URL, or a temporary one for this run. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env.TEST_DATABASE_URL;
  const cluster = given ? undefined : await startCluster();
  project.provide('databaseUrl', given ?? cluster!.url);
  return cluster?.stop;
}
