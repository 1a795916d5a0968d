import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergeEdits } from './merge-edits.ts';

type Fields = Record<string, unknown>;

/** The fields in which two edits differ, as the server names them. */
const differences = (current: Fields, yours: Fields) =>
  Object.keys(yours)
    .filter((path) => JSON.stringify(current[path]) !== JSON.stringify(yours[path]))
    .map((path) => ({ path, message: 'differs', current: current[path], yours: yours[path] }));

const text = fc.constantFrom('', 'a', 'b', 'c');
const list = fc.subarray(['x', 'y', 'z', 'w']);
const record = fc.record({ name: text, phone: text, moduleIds: list });

test('a field that one user changed keeps that change; fields that both changed are left to the user', () => {
  fc.assert(
    fc.property(record, record, record, (base, theirs, mine) => {
      const { taken, clashes } = mergeEdits(base, differences(theirs, mine));
      const merged: Fields = { ...mine, ...taken };
      const asked = clashes.map(({ path }) => path);
      for (const field of ['name', 'phone'] as const) {
        if (mine[field] === base[field]) expect(merged[field]).toBe(theirs[field]);
        else if (theirs[field] === base[field]) expect(merged[field]).toBe(mine[field]);
        const both = new Set([base[field], theirs[field], mine[field]]).size === 3;
        expect(asked.includes(field)).toBe(both);
      }
      for (const entry of ['x', 'y', 'z', 'w']) {
        const [before, here, there] = [base, mine, theirs].map(({ moduleIds }) => moduleIds.includes(entry));
        const now = (merged['moduleIds'] as string[]).includes(entry);
        expect(now).toBe(here === before ? there : here);
      }
      expect(asked).not.toContain('moduleIds');
    }),
  );
});

test('who merges first makes no difference', () => {
  fc.assert(
    fc.property(record, record, record, (base, one, other) => {
      const here = mergeEdits(base, differences(one, other));
      const there = mergeEdits(base, differences(other, one));
      expect(here.clashes.map(({ path }) => path)).toEqual(there.clashes.map(({ path }) => path));
      if (here.clashes.length > 0) return;
      const sorted = ({ moduleIds, ...rest }: Fields) => ({
        ...rest,
        moduleIds: (moduleIds as string[]).toSorted(),
      });
      expect(sorted({ ...other, ...here.taken })).toEqual(sorted({ ...one, ...there.taken }));
    }),
  );
});

test('nothing typed and nothing stored are the same, and so are objects with their parts in another order', () => {
  const stored = { percent: 5, minimumInstalls: 50 };
  const merge = (base: unknown, current: unknown, yours: unknown) =>
    mergeEdits({ field: base }, [{ path: 'field', message: '', current, yours }]);
  expect(merge(null, 'theirs', '').taken).toEqual({ field: 'theirs' });
  expect(merge(stored, null, { minimumInstalls: 50, percent: 5 }).taken).toEqual({ field: null });
  expect(merge(stored, null, { percent: 6, minimumInstalls: 50 }).clashes).toHaveLength(1);
});

test('a list that needs an entry is a clash where each took away what the other kept', () => {
  const scopes = { path: 'scopes', message: '', current: ['updates'], yours: ['validate'] };
  const merged = mergeEdits({ scopes: ['validate', 'updates'] }, [scopes]);
  expect(merged).toEqual({ taken: {}, clashes: [scopes] });
});
