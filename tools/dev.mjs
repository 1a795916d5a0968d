// The server restarts and the console reloads at every change. `predev` has built the server before. PORT is that of the server.
import { spawn } from 'node:child_process';
import { cpSync, watch } from 'node:fs';
import { join } from 'node:path';
import { installed, root } from './process.mjs';

const migrations = join('server', 'db', 'migrations');
watch(join(root, migrations), { persistent: false }, () => {
  cpSync(join(root, migrations), join(root, 'dist', migrations), { recursive: true });
});

// Each in a group of its own: Ctrl-C is for us alone, so that the server hears of the end once and can finish.
function start([command, ...args]) {
  return spawn(command, args, { cwd: root, stdio: 'inherit', detached: true });
}

const compiler = start([
  ...installed('typescript', 'tsc'),
  '-p',
  'tsconfig.server.json',
  '--watch',
  '--preserveWatchOutput',
]);
const server = start([
  process.execPath,
  '--enable-source-maps',
  '--watch',
  '--watch-preserve-output',
  'dist/server/main.js',
]);
const site = start(installed('vite'));

let ending = false;
function end() {
  if (ending) return;
  ending = true;
  // The watcher tells its server itself; the others are wrappers, whose groups must go as a whole.
  server.kill('SIGTERM');
  for (const { pid } of [compiler, site]) {
    try {
      process.kill(-pid, 'SIGTERM');
    } catch {
      // It has ended already.
    }
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end);
for (const child of [compiler, server, site]) child.once('exit', end);
