import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram } from './find-program.ts';
import { opened } from './opened.ts';
import { freePort } from './server-process.ts';
import { newFolder } from './place.ts';

const program = findProgram('nginx');
export const hasNginx = program !== undefined;

export type Nginx = { url: string; errors(): Promise<string> };

/** nginx as in docs/operating.md, in front of two servers: the same block, with these addresses and without TLS. */
export async function startNginx(ports: readonly [number, number]): Promise<Nginx> {
  const folder = await newFolder();
  const port = await freePort();
  const log = join(folder, 'error.log');
  await writeFile(join(folder, 'nginx.conf'), config(folder, documented(ports, port)));
  const child = spawn(program!, ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', log], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  while (!(await fetch(`${url}/healthz`).catch(() => undefined))?.ok)
    if (child.exitCode !== null) throw new Error(`nginx ended: ${readFileSync(log, 'utf8')}`);
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  opened.add(stop);
  return { url, errors: () => readFile(log, 'utf8') };
}

function documented(ports: readonly [number, number], port: number): string {
  const docs = readFileSync(join(import.meta.dirname, '../docs/operating.md'), 'utf8');
  const block = /```nginx\n([^]*?)```/.exec(docs)![1]!;
  const changed = block
    .replace('10.0.0.11:8080', `127.0.0.1:${ports[0]}`)
    .replace('10.0.0.12:8080', `127.0.0.1:${ports[1]}`)
    .replace(/listen \[::\]:443 ssl[^;]*;/, '')
    .replace(/listen 443 ssl[^;]*;/, `listen 127.0.0.1:${port};`)
    .replaceAll(/^ *ssl_certificate.*\n/gm, '');
  if (/10\.0\.0\.|ssl/.test(changed)) throw new Error(`The nginx block of the docs has changed:\n${changed}`);
  return changed;
}

const config = (folder: string, block: string) => `
  ${process.getuid?.() === 0 ? 'user root;' : ''}
  daemon off;
  worker_processes 2;
  pid ${folder}/pid;
  events {}
  http {
    access_log off;
    ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
    ${block}
  }
`;
