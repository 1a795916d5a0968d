import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { dirname, join } from 'node:path';

export const root = dirname(import.meta.dirname);

/** The command line of an installed tool, without npm's shell scripts, which differ by platform. */
export function installed(packageName, tool = packageName) {
  const folder = join(root, 'node_modules', packageName);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return [process.execPath, join(folder, typeof bin === 'string' ? bin : bin[tool])];
}

/** Runs a command until it exits. With `quiet`, its output is returned instead of printed; `niceness` is its priority. */
export function run([command, ...args], { quiet = false, niceness = 0, env = {} } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: quiet ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
    });
    if (niceness && child.pid) setPriority(child.pid, niceness);
    let output = '';
    child.stdout?.on('data', (chunk) => (output += chunk));
    child.stderr?.on('data', (chunk) => (output += chunk));
    child.once('error', (error) => resolve({ ok: false, output: `${command}: ${error.message}\n` }));
    child.once('close', (code) => resolve({ ok: code === 0, output }));
  });
}

/** Seconds since `from`, formatted. */
export function since(from) {
  return `${((performance.now() - from) / 1000).toFixed(1)} s`;
}
