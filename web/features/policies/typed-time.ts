import { halfWidth } from '../../ui/half-width.ts';

const timePattern = /^\s*(?:(\d{1,2})[:.](\d{1,2})|(\d{1,2})(\d\d))\s*$/;

/** Parses `7:30`, `7:5`, `22.00` or `2200`; returns other text unchanged, for the contract to refuse. */
export function readTime(text: string): string {
  const [, hour, minute, hours, minutes] = timePattern.exec(halfWidth(text)) ?? [];
  const [h = '', m = ''] = [hour ?? hours, minute ?? minutes];
  return h === '' || Number(h) > 23 || Number(m) > 59 ? text : `${h.padStart(2, '0')}:${m.padStart(2, '0')}`;
}

/** The end of a window: the midnight at the end of a day, `24:00`, is the one at which the next begins. */
export const readEnd = (text: string): string =>
  /^\s*24[:.]?00\s*$/.test(halfWidth(text)) ? '00:00' : readTime(text);

// without a colon only quarters of an hour: `2026-2027` are two years
const oneOfTwo = String.raw`\s*(\d{1,2}[:.]\d\d|\d\d(?:00|15|30|45))\s*`;
const twoTimes = new RegExp(String.raw`^${oneOfTwo}(?:-|–|—|~|\bto\b)${oneOfTwo}$`);

/** The two times of `22:00-06:00` or `2200 to 0600`; undefined for other text, and until both are typed. */
export function readTimes(text: string): { from: string; to: string } | undefined {
  const [, from, to] = twoTimes.exec(halfWidth(text)) ?? [];
  return from && to ? { from: readTime(from), to: readEnd(to) } : undefined;
}
