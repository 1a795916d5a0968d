// The server restarts and the console reloads on every change. `predev` has built the server. PORT is the port of the server.
import { spawn } from 'node:child_process';
import { installed, root } from './process.mjs';

// Each in its own process group: Ctrl-C reaches only this process, so the server gets one signal and can finish.
function start([command, ...args]) {
  return spawn(command, args, { cwd: root, stdio: 'inherit', detached: true });
}

const builder = start([process.execPath, 'tools/build-server.mjs', 'dist', '--watch']);
const server = start([
  process.execPath,
  '--enable-source-maps',
  '--watch',
  '--watch-preserve-output',
  'dist/server/main.js',
]);
const site = start(installed('vite'));

let isStopping = false;
function stop() {
  if (isStopping) return;
  isStopping = true;
  // The watcher stops its server.
  server.kill('SIGTERM');
  stopGroup(site, 'SIGTERM');
  stopGroup(builder, 'SIGTERM');
}

// The others are wrappers, which do not stop what they started.
function stopGroup({ pid }, signal) {
  try {
    process.kill(-pid, signal);
  } catch {
    // It has exited already.
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
for (const child of [builder, server, site]) child.once('exit', stop);
