import { execFile, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../../server/db/embedded-postmaster.ts';
import { withClient } from '../../../server/db/with-client.ts';
import { alternate } from '../load.ts';
import type { createChildren } from '../processes.ts';
import type { Stage } from '../stage.ts';
import { betterAuth } from './better-auth.ts';
import { directus } from './directus.ts';
import { nginx, tus } from './files.ts';
import type { Comparison, Peer } from './peer.ts';
import { unleash } from './unleash.ts';

export const peers: Record<string, Peer> = { 'better-auth': betterAuth, unleash, directus, tus, nginx };

type Parts = {
  stage: Stage;
  /** For the packages. */
  folder: string;
  records: number;
  children: ReturnType<typeof createChildren>;
  only: readonly string[] | undefined;
};

/** Installs, starts and measures what a user would pick instead, one after the other. A failure is a result. */
export async function* benchPeers(
  parts: Parts,
): AsyncGenerator<{ name: string; result: Comparison | string }> {
  for (const [name, peer] of Object.entries(peers)) {
    if (parts.only && !parts.only.includes(name)) continue;
    const running: ChildProcess[] = [];
    try {
      const found = await benchPeer(name, peer, parts, running);
      for (const result of found) yield { name, result };
    } catch (error) {
      yield { name, result: `does not run here: ${String(error).split('\n')[0]}` };
    } finally {
      for (const child of running) await parts.children.stop(child);
    }
  }
}

async function benchPeer(
  name: string,
  { packages, bench }: Peer,
  { stage, folder, records, children }: Parts,
  running: ChildProcess[],
): Promise<Comparison[]> {
  const home = path.join(folder, 'peers', name);
  await install(home, packages);
  const database = `peer_${name.replace('-', '_')}`;
  await withClient(stage.databaseUrl, async (client) => {
    await client.query(`drop database if exists ${database}`);
    await client.query(`create database ${database}`);
  });
  const address = new URL(stage.databaseUrl);
  address.pathname = database;
  return bench({
    stage,
    home,
    databaseUrl: address.href,
    records,
    async start(module, env) {
      const [port, script] = [await freePort(), path.join(home, 'server.mjs')];
      await writeFile(script, module);
      running.push(await children.start(script, { ...env, PORT: String(port), HTTP_PORT: String(port) }));
      return `http://127.0.0.1:${port}`;
    },
    async compare(job, { ours, theirs, bare }) {
      const [first, second, third] = await alternate([bare, ours, theirs], stage.seconds);
      return { job, bare: first!, ours: second!, theirs: third! };
    },
  });
}

/** Into a folder of its own: nothing of this becomes part of our packages, and no script of a package runs. */
async function install(home: string, packages: readonly string[]): Promise<void> {
  await mkdir(home, { recursive: true });
  if (packages.length === 0 || existsSync(path.join(home, 'node_modules/.package-lock.json'))) return;
  await writeFile(path.join(home, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--legacy-peer-deps', '--loglevel=error'];
  await promisify(execFile)('npm', ['install', ...options, ...packages], { cwd: home });
}
