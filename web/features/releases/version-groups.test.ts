import { expect, test } from 'vitest';
import { buildsText, machinesOf, newestFirst } from './version-groups.ts';

test('orders by number, not by text, and keeps one version together', () => {
  const rows = ['1.9.0', '1.10.0', '1.10.0+b', '1.10.0-beta.2', '1.10.0', '1.10.0+a', '1.10.0-beta.10'].map(
    (version, id) => ({ id, version }),
  );
  expect(newestFirst(rows).map((row) => row.version)).toEqual([
    '1.10.0',
    '1.10.0',
    '1.10.0+a',
    '1.10.0+b',
    '1.10.0-beta.10',
    '1.10.0-beta.2',
    '1.9.0',
  ]);
});

test('counts the machines of a platform once, whatever kinds of files and channels they have', () => {
  const windows = { platform: 'win32', architecture: 'x64' } as const;
  const builds = [
    { ...windows, running: 100, eligible: 200, held: 10 },
    { ...windows, running: 100, eligible: 250, held: 5 },
    { platform: 'darwin', architecture: 'arm64', running: 1, eligible: 2, held: 0 },
  ] as const;
  expect(machinesOf(builds)).toEqual({ running: 101, eligible: 252, held: 10 });
  expect(machinesOf([])).toEqual({ running: 0, eligible: 0, held: 0 });
});

test('a version that another page may go on with says that the builds of this page are counted', () => {
  const shown = ['3.0.0', '2.0.0', '2.0.0', '1.0.0'].map((version) => ({ version }));
  const texts = (page: { offset: number; total: number }) =>
    ['3.0.0', '2.0.0', '1.0.0'].map((version) => buildsText(version, shown, page));
  expect(texts({ offset: 0, total: 4 })).toEqual([null, '2 builds', null]);
  expect(texts({ offset: 0, total: 5 })).toEqual([null, '2 builds', '1 build on this page']);
  expect(texts({ offset: 4, total: 8 })).toEqual(['1 build on this page', '2 builds', null]);
  expect(texts({ offset: 4, total: 9 })).toEqual([
    '1 build on this page',
    '2 builds',
    '1 build on this page',
  ]);
});
