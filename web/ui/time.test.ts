import { expect, test } from 'vitest';
import { relativeTime } from './time.ts';

const now = new Date('2026-11-20T12:00:00.000Z');

test.each([
  ['2026-11-20T11:59:30.000Z', 'just now'],
  ['2026-11-20T11:58:00.000Z', '2 minutes ago'],
  ['2026-11-19T12:00:00.000Z', 'yesterday'],
  ['2026-11-10T12:00:00.000Z', 'last week'],
  ['2026-12-25T12:00:00.000Z', 'next month'],
  ['2024-11-01T12:00:00.000Z', '2 years ago'],
])('%s is %s', (iso, expected) => expect(relativeTime(iso, now)).toBe(expected));
