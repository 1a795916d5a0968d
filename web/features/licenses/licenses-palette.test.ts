import { expect, test } from 'vitest';
import licensesPalette from './licenses-palette.ts';

test('the list of all licenses that a text finds has a day as every reader reads it', () => {
  const searched = (text: string) => licensesPalette.list?.(text).search;
  expect(searched('3.2.2036')).toEqual({ search: '2036-02-03' });
  expect(searched('Lyon')).toEqual({ search: 'Lyon' });
});
