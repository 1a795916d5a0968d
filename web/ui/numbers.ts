import { readerLocale } from './locale.ts';

/** Formats of numbers in a locale; the console uses those of the reader, below. */
export function numbersIn(locale: Intl.Locale) {
  const digits = (minimumFractionDigits: number, maximumFractionDigits: number) =>
    new Intl.NumberFormat(locale, { minimumFractionDigits, maximumFractionDigits });
  const format = digits(0, 3);
  const upToHundredths = digits(0, 2);
  const fixed = { 1: digits(1, 1), 2: digits(2, 2) };
  const parts = format.formatToParts(1_234_567.5);
  const partOf = (type: string) => parts.find((part) => part.type === type)?.value ?? '';
  return {
    /** What stands between groups of digits, and before decimals. */
    group: partOf('group'),
    decimal: partOf('decimal'),
    /** `12,345`. */
    countText: (value: number): string => format.format(value),
    /** `12,345.5`: at most two decimals. */
    decimalText: (value: number): string => upToHundredths.format(value),
    /** `12,345.50`: always so many decimals. */
    fixedText: (value: number, decimals: 1 | 2): string => fixed[decimals].format(value),
  };
}

/** Those of the reader. */
export const { countText, fixedText } = numbersIn(readerLocale);
