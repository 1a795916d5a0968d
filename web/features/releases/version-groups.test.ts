import { expect, test } from 'vitest';
import { newestFirst } from './version-groups.ts';

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
