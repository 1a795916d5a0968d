import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CannotStart } from '../cannot-start.ts';
import { withFile } from '../files.ts';
import { type Account, isRoot, succeedsAs, unprivilegedAccount } from './embedded-account.ts';

/** Where root stores files that an unprivileged account must reach but cannot reach in the checkout. */
export const privateRoot = '/var/lib/lanyard';

const noteName = 'database-location.txt';

/** Where the cluster of a data directory is (or will be), and the account that runs it. */
export type ClusterLocation = { dataDir: string; cluster: string; account: Account };

/** Finds the cluster of a data directory, or chooses the location of a new one. */
export async function locateCluster(directory: string): Promise<ClusterLocation> {
  await mkdir(directory, { recursive: true });
  const dataDir = await realpath(directory);
  const inside = join(dataDir, 'postgres');
  const elsewhere = await notedLocation(dataDir);

  for (const cluster of [inside, elsewhere]) {
    if (await isUsed(cluster)) return { dataDir, cluster, account: await ownerOf(cluster) };
  }
  if (await isCopyWithoutDatabase(dataDir)) throw lostCluster(dataDir, elsewhere);
  const account = await unprivilegedAccount();
  if (await succeedsAs(account, 'cd "$1"', dataDir)) return { dataDir, cluster: inside, account };
  await prepareElsewhere(dataDir, elsewhere);
  return { dataDir, cluster: elsewhere, account };
}

/** The cluster that a data directory already has, if it has one; creates nothing. */
export async function findCluster(directory: string): Promise<string | undefined> {
  const dataDir = await realpath(directory).catch(() => undefined);
  if (dataDir === undefined) return undefined;
  for (const cluster of [join(dataDir, 'postgres'), await notedLocation(dataDir)])
    if (await isUsed(cluster)) return cluster;
  return undefined;
}

/** The data directory has keys, so it was in use, but the database that it refers to does not exist. */
async function isCopyWithoutDatabase(dataDir: string): Promise<boolean> {
  const names = await readdir(dataDir);
  return names.includes(noteName) && names.includes('signing-key.pem');
}

/** The note takes precedence, so that a data directory that was moved keeps its database. */
async function notedLocation(dataDir: string): Promise<string> {
  const note = await readFile(join(dataDir, noteName), 'utf8').catch(() => '');
  const noted = note.trim().split('\n').at(-1);
  if (noted?.startsWith('/')) return noted;
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 12);
  return join(privateRoot, hash, 'postgres');
}

async function prepareElsewhere(dataDir: string, cluster: string): Promise<void> {
  const parent = join(cluster, '..');
  await mkdir(parent, { recursive: true });
  // The umask may be 077, and the account needs access.
  for (const folder of [privateRoot, parent]) await chmod(folder, 0o755);
  const text = `The database of this folder is kept elsewhere: PostgreSQL may not run as root, and the account
that runs it may not enter this folder. Back up and move both together. The database is in
${cluster}
`;
  await withFile(join(dataDir, noteName), 'w', async (file) => file.writeFile(text), 0o644);
}

async function isUsed(cluster: string): Promise<boolean> {
  try {
    return (await stat(cluster)).isDirectory() && (await readdir(cluster)).length > 0;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return false;
    if (code === 'EACCES') throw notOurs(cluster);
    throw error;
  }
}

async function ownerOf(cluster: string): Promise<Account> {
  const { uid, gid } = await stat(cluster);
  if (!isRoot) {
    if (process.getuid && uid !== process.getuid()) throw notOurs(cluster);
    return undefined;
  }
  if (uid !== 0) return { uid, gid };
  // A backup restored by root is owned by root, which PostgreSQL rejects.
  const account = await unprivilegedAccount();
  // -h: a link is given away, not what it leads to.
  if (account) await promisify(execFile)('chown', ['-Rh', `${account.uid}:${account.gid}`, cluster]);
  return account;
}

function notOurs(cluster: string): Error {
  return new CannotStart(
    `The database in ${cluster} belongs to another account. ` +
      'Start Lanyard as that account or as root, or give this one its own DATA_DIR.',
  );
}

function lostCluster(dataDir: string, cluster: string): Error {
  return new CannotStart(
    `${join(dataDir, noteName)} says that the database lies in ${cluster}, and there is none. A copy of the data directory ` +
      `has no database in it: bring that folder too. To begin with an empty database, remove the note.`,
  );
}
