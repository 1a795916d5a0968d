import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { withFile } from './files.ts';

/** The file of the data directory that lists where everything is stored. */
const locationsName = 'locations.txt';

/**
 * Where each part of an installation is stored, by name; contains no secrets. `cluster`: the folder of the embedded
 * database.
 */
export function locationsOf(config: Config, cluster: string | undefined): Record<string, string> {
  const { dataDir, storage } = config;
  return {
    database: cluster ?? addressOf(config),
    binaries: storage.kind === 'disk' ? storage.folder : `s3://${storage.bucket}/${storage.prefix}`,
    'signing key': config.signingKey ? placeOf(config.signingKey) : path.join(dataDir, 'signing-key.pem'),
    'retired keys': path.join(dataDir, 'retired-keys'),
    'secrets key': config.secretsKey ? placeOf(config.secretsKey) : path.join(dataDir, 'secrets-key'),
    'audit head': path.join(dataDir, 'audit-head.json'),
    journal: path.join(dataDir, 'journal'),
  };
}

const placeOf = (key: NonNullable<Config['signingKey']>) => ('file' in key ? key.file : 'the environment');

/** The addresses of the database and of the pooler in front of it. */
function addressOf({ databaseUrl, databaseDirectUrl }: Config): string {
  const [queries, direct] = [databaseUrl, databaseDirectUrl].map((url) => url && withoutPassword(url));
  return queries === direct ? `${direct}` : `${direct}, through ${queries}`;
}

function withoutPassword(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.password = '';
  return `${url.protocol}//${url.username && `${url.username}@`}${url.host}${url.pathname}`;
}

/**
 * Logs where everything is, and rewrites the file, so that a copy of the data directory lists what else belongs to the
 * installation. A disk that has become read-only ends no start for it. `cluster` as above.
 */
export async function tellLocations(config: Config, cluster: string | undefined, log: Logger): Promise<void> {
  const locations = locationsOf(config, cluster);
  const { database, binaries } = locations;
  log.info(
    { locations },
    `Data: database ${database}, binaries ${binaries}, keys ${locations['signing key']}`,
  );
  const lines = Object.entries(locations).map(([name, place]) => `${name}: ${place}\n`);
  const text = `# Locations of this installation, written at each start. A backup needs all of them.\n${lines.join('')}`;
  await mkdir(config.dataDir, { recursive: true });
  const file = path.join(config.dataDir, locationsName);
  await withFile(file, 'w', async (handle) => handle.writeFile(text), 0o644).catch((error: unknown) =>
    log.error({ err: error }, 'The locations cannot be written'),
  );
}
