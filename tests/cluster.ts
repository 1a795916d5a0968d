import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbedded } from '../server/db/embedded.ts';
import { placeOfRun } from './place.ts';
import { grantToTests } from './superuser.ts';

const settings = {
  // A test database need not survive a power cut, and is several times faster without that guarantee.
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_wal_size: '256MB',
  max_connections: '300',
  // Its worker would connect to databases that are to be dropped, and only a superuser may terminate it.
  autovacuum: 'off',
};

/** A PostgreSQL for one test run, in which each test server creates its own database. */
export async function startCluster(): Promise<{ url: string; stop: () => Promise<void> }> {
  const folder = await mkdtemp(join(await placeOfRun(), 'lanyard-test-'));
  // PostgreSQL does not run as root, and its account needs access.
  await chmod(folder, 0o755);
  const database = await startEmbedded(folder, { exclusive: true, log: () => {}, settings });
  await grantToTests(folder, database.url);
  return {
    url: database.url,
    async stop() {
      await database.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
