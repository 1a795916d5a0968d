import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { opened } from './opened.ts';
import { newFolder } from './place.ts';
import { runNginx } from './run-nginx.ts';
import { freePort } from './server-process.ts';

/**
 * nginx as in docs/operating.md, in front of two servers: the same block, with these addresses and without TLS. Unless
 * `hurried`, also without the limit after which a machine gives up: where tests run side by side, answers take longer.
 */
export async function startNginx(ports: readonly [number, number], { hurried = false } = {}) {
  const folder = await newFolder();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const block = documented(ports, port);
  const http = hurried ? block : block.replace('proxy_read_timeout 8s;', '');
  const { errors, stop } = await runNginx({ folder, workers: 2, url: `${url}/healthz`, http });
  opened.add(stop);
  return { url, errors };
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
