import { join } from 'node:path';
import { readPassword } from '../server/db/embedded-cluster.ts';
import { appRole } from '../server/db/embedded-role.ts';
import { withClient } from '../server/db/with-client.ts';

/** The URL of an embedded database for its superuser, from the URL for the role that serves requests. */
export async function superuserUrl(dataDir: string, url: string): Promise<string> {
  const address = new URL(url);
  address.username = 'lanyard';
  address.password = await readPassword(join(dataDir, 'postgres'));
  return address.href;
}

/**
 * What tests and benches need in addition to that role's rights: creating databases, and writing rows without the
 * triggers.
 */
export async function grantToTests(dataDir: string, url: string): Promise<void> {
  await withClient(await superuserUrl(dataDir, url), async (client) => {
    await client.query(`alter role ${appRole} createdb`);
    await client.query(`grant set on parameter session_replication_role to ${appRole}`);
  });
}
