import { halfWidth } from '../../ui/half-width.ts';

const quotes = /^[[("'`“”„‘’«»]+|[\])"'`“”„‘’«»]+$/g;

/** Addresses and ranges, separated by commas or newlines; also in quotes, as a list in a program has them. */
export const whitelistOf = (text: string): string[] =>
  halfWidth(text)
    .split(/[,、\n]/)
    .map((entry) => entry.trim().replaceAll(quotes, '').trim())
    .filter((entry) => entry !== '');
