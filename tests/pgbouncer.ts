import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { unprivilegedAccount } from '../server/db/embedded-account.ts';
import { findProgram } from './find-program.ts';
import { eventually } from './harness.ts';
import { opened } from './opened.ts';
import { freePort } from './server-process.ts';
import { newFolder } from './place.ts';

const program = findProgram('pgbouncer');

/** False where the package pgbouncer is not installed. */
export const hasPgBouncer = program !== undefined;

export type PgBouncer = { url: string; stop(): Promise<void> };

/** A PgBouncer in front of the database of that URL, with additional settings of `pgbouncer.ini`. */
export async function startPgBouncer(
  url: string,
  settings: Record<string, string> & { pool_mode: 'session' | 'transaction' | 'statement' },
): Promise<PgBouncer> {
  const { hostname, port, username, password } = new URL(url);
  const folder = await newFolder();
  const ownPort = await freePort();
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: ownPort,
    unix_socket_dir: '',
    auth_type: 'any',
    max_client_conn: 200,
    default_pool_size: 20,
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const file = join(folder, 'pgbouncer.ini');
  const target = `* = host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}`;
  await writeFile(file, ['[databases]', target, '[pgbouncer]', ...lines, ''].join('\n'));
  // it refuses to run as root
  const child = spawn(program!, [file], { ...(await unprivilegedAccount()), stdio: 'ignore', cwd: '/' });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  opened.add(stop);
  await eventually(() => accepts(ownPort));
  const own = new URL(url);
  own.port = String(ownPort);
  return { url: own.href, stop };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => socket.destroy());
    socket.once('error', () => resolve(false));
    socket.once('close', (hadError) => resolve(!hadError));
  });
}
