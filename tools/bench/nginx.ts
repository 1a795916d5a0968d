import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort } from '../../server/db/embedded-postmaster.ts';
import { findProgram } from '../../tests/find-program.ts';

/** Starts nginx with `file` as /file; undefined if nginx is not installed. */
export async function startNginx(folder: string, file: Buffer) {
  const program = findProgram('nginx');
  if (!program) return undefined;
  const home = path.join(folder, 'nginx');
  await mkdir(home, { recursive: true });
  await writeFile(path.join(home, 'file'), file);
  const port = await freePort();
  await writeFile(path.join(home, 'nginx.conf'), config(home, port));
  const child = spawn(program, ['-p', home, '-c', path.join(home, 'nginx.conf'), '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}/file`;
  while (!(await fetch(url, { method: 'HEAD' }).catch(() => undefined))?.ok) {
    if (child.exitCode !== null) throw new Error(`nginx exited with ${child.exitCode}`);
  }
  return {
    url,
    async stop() {
      child.kill('SIGQUIT');
      await once(child, 'exit');
    },
  };
}

const config = (home: string, port: number) => `
  ${process.getuid?.() === 0 ? 'user root;' : ''}
  daemon off;
  pid ${home}/pid;
  events {}
  http {
    access_log off;
    sendfile on;
    ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${home}/${name};`).join(' ')}
    server { listen 127.0.0.1:${port}; root ${home}; }
  }
`;
