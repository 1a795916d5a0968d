import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../../server/root.ts';

const dist = path.join(root, 'dist');
const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  scripts: { start: string };
};
/** Processes are measured with the flags of `npm start`. */
const nodeFlags = scripts.start.split(' ').filter((word) => word.startsWith('--'));

/**
 * Starts a script in its own process and waits until it prints that it is ready: one of the build, or (by its absolute
 * path) another program, with the flags and in the folder that it would have by itself.
 */
async function startNode(
  script: string,
  env: Record<string, string>,
  flags: readonly string[],
): Promise<ChildProcess> {
  const isOurs = !path.isAbsolute(script);
  const args = isOurs ? [...nodeFlags, ...flags, path.join(dist, script)] : [...flags, script];
  const child = spawn(process.execPath, args, {
    cwd: isOurs ? process.cwd() : path.dirname(script),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => /ready/i.test(chunk.toString()) && resolve());
    child.once('exit', (code) => reject(new Error(`${script} exited with ${code}`)));
  });
  return child;
}

/** The processes of a run, so that all can be stopped at its end. */
export function createChildren() {
  const running = new Set<ChildProcess>();
  const stop = async (child: ChildProcess): Promise<void> => {
    running.delete(child);
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  };
  return {
    /** `flags`: of Node, beside those of `npm start`. */
    async start(
      script: string,
      env: Record<string, string>,
      flags: readonly string[] = [],
    ): Promise<ChildProcess> {
      const child = await startNode(script, env, flags);
      running.add(child);
      return child;
    },
    stop,
    stopAll: () => Promise.all([...running].map(stop)),
  };
}

/** The peak resident memory of the process in MB (Linux). */
export function peakMemoryMb(child: ChildProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)![1]) / 1024;
}

/** Resets the peak to the current resident memory (Linux). */
export function resetPeakMemory(child: ChildProcess): void {
  writeFileSync(`/proc/${child.pid}/clear_refs`, '5');
}
