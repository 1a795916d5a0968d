import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';

/**
 * How many cores this process may keep busy: those of the machine, or what its cgroup grants (`docker run --cpus`, the
 * CPU limit of a pod, CPUQuota of systemd), rounded down, at least 1. Node 20 itself counts those of the machine.
 */
export function usableCores(read: (file: string) => string = readText): number {
  return Math.max(1, Math.floor(Math.min(availableParallelism(), ...quotas(read))));
}

/** The limits of the cgroup and of those above it, in cores. */
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

/** The folder of a cgroup and all above it. In a container the root is its own, whatever path the kernel tells. */
function foldersOf(root: string, own: string): string[] {
  const parts = own.split('/').filter((part) => part !== '' && part !== '..');
  return Array.from({ length: parts.length + 1 }, (_, depth) => path.join(root, ...parts.slice(0, depth)));
}

/** Of `150000 100000`, microseconds in each period; `max` and -1 are no limit. */
function coresOf(text: string): number {
  const [quota = 0, period = 0] = text.trim().split(/\s+/).map(Number);
  return quota > 0 && period > 0 ? quota / period : Infinity;
}

/** Other systems have no such files. */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
