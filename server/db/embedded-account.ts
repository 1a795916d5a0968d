import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { CannotStart } from '../cannot-start.ts';

/** The account PostgreSQL runs under; undefined means our own. */
export type Account = { uid: number; gid: number } | undefined;

export const isRoot = process.getuid?.() === 0;

/** The unprivileged account for a new cluster, since PostgreSQL refuses to run as root; undefined for other users. */
export async function unprivilegedAccount(): Promise<Account> {
  if (!isRoot) return undefined;
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const wanted of ['postgres', 'nobody']) {
    const [, , uid, gid] = lines.find(([name]) => name === wanted) ?? [];
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new CannotStart(
    'PostgreSQL may not run as root, and there is no account "postgres" or "nobody" to run it under. ' +
      'Create one, start Lanyard as another user, or set DATABASE_URL.',
  );
}

/** An environment without PG* variables and locale, which would change the behavior or output of PostgreSQL. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = ['PATH', 'TMPDIR', 'SystemRoot', 'TEMP', 'TMP'];
  const entries = kept.map((name) => [name, process.env[name]] as const).filter(([, value]) => value);
  return { ...Object.fromEntries(entries), LC_ALL: 'C' };
}

/** Runs a shell line as the account and returns whether it succeeded: no other check covers modes, ACLs and mounts. */
export function succeedsAs(account: Account, line: string, ...args: string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { ...account, cwd: '/', env: cleanEnvironment() };
    execFile('/bin/sh', ['-c', line, 'sh', ...args], options, (error) => resolve(!error));
  });
}
