import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mostConnections } from './connect.ts';

test('several workers open no more connections than the docs say', () => {
  const formula = (workers: number) => Math.min(23, Math.max(10, Math.floor(88 / workers)));
  // with the one that looks where a pooler leads
  for (let workers = 1; workers <= 64; workers++)
    expect(mostConnections(workers) + 1, `${workers} workers`).toBeLessThanOrEqual(formula(workers));
  // with the one that listens
  for (let workers = 1; workers <= 8; workers++)
    expect(workers * (mostConnections(workers) + 1)).toBeLessThanOrEqual(88);
  const docs = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  const rows = [...docs.matchAll(/^\| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$/gm)].map((row) =>
    row.slice(1).map(Number),
  );
  expect(rows).toEqual([1, 2, 4, 8, 16].map((n) => [n, formula(n), n * formula(n), n * 3]));
});
