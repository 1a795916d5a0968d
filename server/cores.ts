import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';

/**
 * How many cores this process may use: those of the machine, or the limit of its cgroup (`docker run --cpus`, the CPU
 * limit of a pod, CPUQuota of systemd), rounded down, at least 1. Node 20 ignores cgroup limits.
 */
export function usableCores(read: (file: string) => string = readText): number {
  return Math.max(1, Math.floor(Math.min(availableParallelism(), ...quotas(read))));
}

/** The limits of the cgroup and its ancestors, in cores. */
function quotas(read: (file: string) => string): number[] {
  const lines = read('/proc/self/cgroup').split('\n');
  return lines.flatMap((line) => {
    const [, controllers, own] = /^\d+:([^:]*):(.+)$/.exec(line) ?? [];
    if (own === undefined || controllers === undefined) return [];
    if (controllers === '')
      return foldersOf('/sys/fs/cgroup', own).map((folder) => coresOf(read(path.join(folder, 'cpu.max'))));
    if (!controllers.split(',').includes('cpu')) return [];
    return foldersOf(`/sys/fs/cgroup/${controllers}`, own).map((folder) => {
      const [quota, period] = ['quota', 'period'].map((name) =>
        read(path.join(folder, `cpu.cfs_${name}_us`)),
      );
      return coresOf(`${quota} ${period}`);
    });
  });
}

/** The folder of a cgroup and its ancestors. In a container, its own cgroup is the root, not the path of the kernel. */
function foldersOf(root: string, own: string): string[] {
  const parts = own.split('/').filter((part) => part !== '' && part !== '..');
  return Array.from({ length: parts.length + 1 }, (_, depth) => path.join(root, ...parts.slice(0, depth)));
}

/** Parses `150000 100000` (microseconds per period); `max` and -1 mean no limit. */
function coresOf(text: string): number {
  const [quota = 0, period = 0] = text.trim().split(/\s+/).map(Number);
  return quota > 0 && period > 0 ? quota / period : Infinity;
}

/** The files do not exist on other systems. */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
