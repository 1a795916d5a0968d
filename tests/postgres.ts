import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { unprivilegedAccount } from '../server/db/embedded-account.ts';
import { freePort } from './server-process.ts';

/** The programs of the newest PostgreSQL of Debian that is installed. */
export const postgresBin = ['18', '17', '16', '15']
  .map((version) => `/usr/lib/postgresql/${version}/bin`)
  .find((folder) => ['initdb', 'pg_basebackup'].every((program) => existsSync(join(folder, program))));

export type Postgres = Awaited<ReturnType<typeof openPostgres>>;

/** A cluster in a folder of the account that PostgreSQL runs as: neither made nor started yet. `options` as on its command line. */
export async function openPostgres(data: string, { options = '', log = `${data}.log` } = {}) {
  const account = await unprivilegedAccount();
  const port = await freePort();
  const url = `postgres://lanyard@127.0.0.1:${port}/postgres`;
  const run = (program: string, ...args: string[]) =>
    promisify(execFile)(join(postgresBin!, program), args, { ...account, cwd: '/', env: { LC_ALL: 'C' } });
  const server = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= ${options}`;
  return {
    url,
    make: () => run('initdb', '-D', data, '-U', 'lanyard', '-A', 'trust', '-E', 'UTF8', '--no-sync'),
    /** Makes it a replica, which follows once it is started. */
    follow: (primary: { url: string }) =>
      run('pg_basebackup', '-D', data, '-d', `${primary.url}?application_name=replica`, '-R', '-c', 'fast'),
    start: () => run('pg_ctl', 'start', '-w', '-D', data, '-l', log, '-o', server),
    control: (action: 'promote' | 'reload' | 'status') => run('pg_ctl', action, '-D', data),
    stop: () => run('pg_ctl', 'stop', '-m', 'immediate', '-D', data),
  };
}
