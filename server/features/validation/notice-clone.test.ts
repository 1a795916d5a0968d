import { describe, expect, test } from 'vitest';
import { hours, minutes } from '../../../tests/harness.ts';
import { noticeClone, type Signs } from './notice-clone.ts';

const unseen: Signs = {
  sequence: null,
  movedBackAt: null,
  facts: null,
  previousFacts: null,
  factsChangedAt: null,
  seenAt: null,
};
type Call = { after?: number; sequence?: number; facts?: string };

/** The number of the call, from 1, that shows a clone; undefined if none does. `after`: the time since the call before. */
function firstClone(calls: readonly Call[]): number | undefined {
  let signs = unseen;
  let at = Date.parse('2026-11-20T09:00:00Z');
  for (const [index, { after = minutes(5), sequence = null, facts = null }] of calls.entries()) {
    at += after;
    const noticed = noticeClone(signs, { at: new Date(at), sequence, facts });
    if (noticed.isClone) return index + 1;
    signs = noticed.signs;
  }
  return undefined;
}
const numbered = (...sequences: number[]): Call[] => sequences.map((sequence) => ({ sequence }));
const described = (...facts: string[]): Call[] => facts.map((one) => ({ facts: one }));

describe('is no clone:', () => {
  test.each<[string, Call[]]>([
    ['one that counts', numbered(1, 2, 3, 7, 100)],
    ['one that does not count', [{}, {}, {}]],
    ['a backup that was restored once', numbered(1, 2, 300, 250, 251, 252, 299, 300, 301)],
    ['a second restore more than a day later', [...numbered(9, 5), { sequence: 3, after: hours(24) + 1 }]],
    ['a renamed computer', described('A', 'A', 'B', 'B')],
    ['one that is renamed twice', described('A', 'B', 'C')],
    ['one that is renamed back on another day', [...described('A', 'B'), { facts: 'A', after: hours(25) }]],
    ['one that says nothing of itself in between', [{ facts: 'A' }, {}, { facts: 'A' }, {}]],
    [
      'one that counts, and has a host name of each network',
      [
        { sequence: 101, facts: 'A' },
        { sequence: 102, facts: 'B' },
        { sequence: 103, facts: 'A' },
        { sequence: 104, facts: 'B' },
      ],
    ],
    ['a restore, and a new name later', [...numbered(9, 5), { sequence: 6, facts: 'B' }]],
    [
      'records that arrive in the wrong order',
      [{ sequence: 9 }, { sequence: 8, after: -1 }, { sequence: 7, after: -1 }],
    ],
  ])('%s', (_, calls) => {
    expect(firstClone(calls)).toBeUndefined();
  });
});

describe('is a clone:', () => {
  test.each<[string, Call[], number]>([
    ['two that count from the same number', numbered(100, 101, 101, 102, 102), 5],
    ['two that are far apart', numbered(500, 100, 501, 101), 4],
    ['two that differ, in turn', described('A', 'B', 'A'), 3],
    [
      'another description with a lower number',
      [
        { sequence: 9, facts: 'A' },
        { sequence: 5, facts: 'B' },
      ],
      2,
    ],
    ['the second step back within a day', [...numbered(9, 5), { sequence: 3, after: hours(24) }], 3],
  ])('%s', (_, calls, at) => {
    expect(firstClone(calls)).toBe(at);
  });
});
