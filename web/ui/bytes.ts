import { countText, fixedText } from './numbers.ts';

const units = ['KB', 'MB', 'GB'] as const;

/** Bytes in one MB (spec part 2, section 9). */
const megabyte = 1_048_576;

/** `512 Bytes`, `1.50 KB`, `20.00 MB`, `1.25 GB`; each unit is 1024 of the one before. */
export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${countText(bytes)} ${bytes === 1 ? 'Byte' : 'Bytes'}`;
  // A value that rounds to 1024.00 gets the next unit.
  const power = units.findIndex((_, index) => bytes / 1024 ** (index + 1) < 1023.995);
  const index = power === -1 ? units.length - 1 : power;
  return `${fixedText(bytes / 1024 ** (index + 1), 2)} ${units[index]}`;
}

/** `83.25 MB`, for every size. */
export const megabytesText = (bytes: number): string => `${fixedText(bytes / megabyte, 2)} MB`;
