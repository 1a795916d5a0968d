import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { usableCores } from './cores.ts';

function setParallelism(availableParallelism: () => number) {
  Object.assign(os, { availableParallelism });
  syncBuiltinESMExports();
}
const real = os.availableParallelism;
beforeAll(() => setParallelism(() => 16));
afterAll(() => setParallelism(real));

const within = (files: Record<string, string>) => usableCores((file) => files[file] ?? '');
const fs = '/sys/fs/cgroup';

test.each<[string, Record<string, string>, number]>([
  ['no cgroup at all', {}, 16],
  ['a container of its own', { '/proc/self/cgroup': '0::/\n', [`${fs}/cpu.max`]: '200000 100000\n' }, 2],
  ['a container without a limit', { '/proc/self/cgroup': '0::/\n', [`${fs}/cpu.max`]: 'max 100000\n' }, 16],
  ['less than a core', { '/proc/self/cgroup': '0::/\n', [`${fs}/cpu.max`]: '50000 100000\n' }, 1],
  ['one and a half', { '/proc/self/cgroup': '0::/\n', [`${fs}/cpu.max`]: '150000 100000\n' }, 1],
  [
    'the slice of a service has less than the service',
    {
      '/proc/self/cgroup': '0::/system.slice/lanyard.service\n',
      [`${fs}/system.slice/cpu.max`]: '300000 100000\n',
      [`${fs}/system.slice/lanyard.service/cpu.max`]: '800000 100000\n',
    },
    3,
  ],
  [
    'a container whose path is that of the host',
    { '/proc/self/cgroup': '0::/../docker/0123\n', [`${fs}/cpu.max`]: '400000 100000\n' },
    4,
  ],
  [
    'version 1',
    {
      '/proc/self/cgroup': '5:memory:/x\n3:cpu,cpuacct:/docker/0123\n0::/\n',
      [`${fs}/cpu,cpuacct/cpu.cfs_quota_us`]: '250000\n',
      [`${fs}/cpu,cpuacct/cpu.cfs_period_us`]: '50000\n',
    },
    5,
  ],
  [
    'version 1 without a limit',
    {
      '/proc/self/cgroup': '3:cpu:/\n',
      [`${fs}/cpu/cpu.cfs_quota_us`]: '-1\n',
      [`${fs}/cpu/cpu.cfs_period_us`]: '100000\n',
    },
    16,
  ],
])('cores under the limits of %s', (_, files, cores) => {
  expect(os.availableParallelism()).toBe(16);
  expect(within(files)).toBe(cores);
});
