import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram } from './find-program.ts';

const program = findProgram('nginx');
export const hasNginx = program !== undefined;

type Options = { folder: string; workers: number; url: string; http: string };

/** Runs nginx in `folder` with these lines in its block `http`, and waits until `url` answers. */
export async function runNginx({ folder, workers, url, http }: Options) {
  const [file, log] = [join(folder, 'nginx.conf'), join(folder, 'error.log')];
  await writeFile(file, config(folder, workers, http));
  const child = spawn(program!, ['-p', folder, '-c', file, '-e', log], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  const errors = () => readFile(log, 'utf8');
  while (!(await fetch(url, { method: 'HEAD' }).catch(() => undefined))?.ok)
    if (child.exitCode !== null) throw new Error(`nginx ended: ${await errors()}`);
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  return { url, errors, stop };
}

const config = (folder: string, workers: number, http: string) => `
  ${process.getuid?.() === 0 ? 'user root;' : ''}
  daemon off;
  worker_processes ${workers};
  pid ${folder}/pid;
  events {}
  http {
    access_log off;
    ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
    ${http}
  }
`;
