import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '../server/db/embedded.ts';
import { grantToTests } from './superuser.ts';

// A test database need not outlive a power cut, and is several times faster without the care for one.
const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' };

/** A PostgreSQL for the time of a test run, in which each test server makes a database of its own. */
export async function startCluster(): Promise<{ url: string; stop: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'lanyard-test-'));
  // PostgreSQL does not run as root, and its account must get in.
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
