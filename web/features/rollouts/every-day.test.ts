import { expect, test } from 'vitest';
import { everyDay } from './every-day.ts';

test('days without an install keep their place between the others', () => {
  const first = { date: '2026-02-27', installed: 4, failed: 1 };
  const last = { date: '2026-03-02', installed: 37, failed: 0 };
  expect(everyDay([first, last])).toEqual([
    first,
    { date: '2026-02-28', installed: 0, failed: 0 },
    { date: '2026-03-01', installed: 0, failed: 0 },
    last,
  ]);
  expect(everyDay([last])).toEqual([last]);
  expect(everyDay([])).toEqual([]);
  // as of a service whose clock was ahead for a moment: all days of that time would be tens of thousands of bars
  const ahead = { date: '2126-03-02', installed: 1, failed: 0 };
  expect(everyDay([last, ahead]).length).toBe(2);
});
