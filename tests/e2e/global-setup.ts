import { startCluster } from '../cluster.ts';

/** Gives the servers of all browser tests one PostgreSQL, like the other tests. */
export default async function setup(): Promise<() => Promise<void>> {
  const cluster = await startCluster();
  process.env.TEST_DATABASE_URL = cluster.url;
  return cluster.stop;
}
