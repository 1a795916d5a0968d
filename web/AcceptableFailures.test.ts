import { expect, test } from 'vitest';
import { stubBrowser } from '../tests/browser.ts';

stubBrowser();
const { emptyText } = await import('./AcceptableFailures.tsx');

test('an empty field says what the previous release showed', () => {
  const previous = { version: '4.2.0', installs: 1204, failed: 16 };
  expect(emptyText({ acceptable: 2.5, acceptableFrom: 'PREVIOUS', previous })).toBe(
    'compared with 4.2.0, which failed on 1.3 % of 1,204 installs',
  );
  const few = (installs: number) =>
    emptyText({ acceptable: 5, acceptableFrom: 'USUAL', previous: { ...previous, installs, failed: 0 } });
  expect(few(12)).toBe('5 %, since 4.2.0 has only 12 installs to compare with');
  expect(few(0)).toBe('5 %, since 4.2.0 has no installs to compare with');
  expect(emptyText({ acceptable: 5, acceptableFrom: 'USUAL', previous: null })).toBe(
    '5 %, until there is a previous release to compare with',
  );
  expect(emptyText(undefined)).toBe('compared with the previous release');
});
