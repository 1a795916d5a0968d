import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort } from '../../server/db/embedded-postmaster.ts';
import { hasNginx, runNginx } from '../../tests/run-nginx.ts';

/** Starts nginx with `file` as /file; undefined if nginx is not installed. */
export async function startNginx(folder: string, file: Buffer) {
  if (!hasNginx) return undefined;
  const home = path.join(folder, 'nginx');
  await mkdir(home, { recursive: true });
  await writeFile(path.join(home, 'file'), file);
  const port = await freePort();
  return runNginx({
    folder: home,
    workers: 1,
    url: `http://127.0.0.1:${port}/file`,
    http: `sendfile on; server { listen 127.0.0.1:${port}; root ${home}; }`,
  });
}
