import type { Config } from '../server/config.ts';
import { startEmbedded, type EmbeddedOptions } from '../server/db/embedded.ts';

/** The database of the settings, past any pooler; without a setting the embedded one, which `stop` stops again. */
export const startDatabase = async (
  config: Config,
  options: EmbeddedOptions,
): Promise<{ url: string; stop(): Promise<void> }> =>
  config.databaseDirectUrl
    ? { url: config.databaseDirectUrl, stop: async () => undefined }
    : startEmbedded(config.dataDir, options);
