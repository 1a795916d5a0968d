import path from 'node:path';
import { CannotStart } from '../server/cannot-start.ts';
import type { Config } from '../server/config.ts';
import { hasCluster } from '../server/db/embedded-location.ts';
import { startEmbedded, type EmbeddedOptions } from '../server/db/embedded.ts';

/** The database of the settings, past any pooler; without a setting the embedded one, which `stop` stops again. */
export const startDatabase = async (
  config: Config,
  options: EmbeddedOptions,
): Promise<{ url: string; stop(): Promise<void> }> =>
  config.databaseDirectUrl
    ? { url: config.databaseDirectUrl, stop: async () => undefined }
    : startEmbedded(config.dataDir, options);

/**
 * Throws CannotStart where the settings lead to no database. Called by each tool that needs an installation: without the
 * settings of the server, it would create an empty one in `./data` and report success there.
 */
export async function requireDatabase({ databaseUrl, dataDir }: Config): Promise<void> {
  if (!databaseUrl && !(await hasCluster(dataDir)))
    throw new CannotStart(
      `There is no database in ${path.resolve(dataDir)}: set DATA_DIR as for the server.`,
    );
}
