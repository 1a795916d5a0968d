import { halfWidth } from './half-width.ts';
import { readerLocale } from './locale.ts';
import { numbersIn } from './numbers.ts';

/** The value of a number field: the number, or the typed text if it is not a number. */
export type TypedNumber = number | string;

/** Of any reader: groups of three digits separated by spaces or apostrophes, and a decimal point. */
const groups = [' ', "'", '’', '\u00a0', '\u2009', '\u202f'];
const digitsOfGroups = /^-?[1-9]\d{0,2}(?:([^\d-])\d{3})(?:\1\d{3})*$/;
/** Before exactly three digits a sign could also separate groups, so `1.000` is ambiguous where a comma does. */
const plain = /^-?\d+(?:([.,])\d{1,2})?$/;

/** Reads and shows the numbers of fields in a locale; the console uses those of the reader, below. */
export function typedNumbersIn(locale: Intl.Locale) {
  const { group, decimal, decimalText } = numbersIn(locale);
  const isGroup = (sign = '') => sign === group || groups.includes(sign);
  const isDecimal = (sign = '.') => sign === '.' || sign === decimal;
  const numberIn = (digits: string): number | undefined => {
    // In India, groups have two digits before the last three.
    const asShown = Number(digits.replaceAll(group, '').replace(decimal, '.'));
    if (decimalText(asShown) === digits) return asShown;
    if (isGroup(digitsOfGroups.exec(digits)?.[1])) return Number(digits.replaceAll(/[^\d-]/g, ''));
    const found = plain.exec(digits);
    if (!found || !isDecimal(found[1])) return undefined;
    const number = Number(digits.replace(',', '.'));
    // `5.0` is not changed silently to 5 in a field for whole numbers.
    return Number.isInteger(number) && found[1] ? undefined : number;
  };
  return {
    /**
     * Parses a number with or without `unit` after it, with the separators that this reader is shown; returns other
     * text unchanged, which the schema of the form refuses, and blank text as empty. Nothing is guessed or rounded.
     */
    readNumber: (text: string, unit = ''): TypedNumber => {
      const trimmed = halfWidth(text).trim();
      const digits = unit && trimmed.endsWith(unit) ? trimmed.slice(0, -unit.length).trimEnd() : trimmed;
      const number = numberIn(digits);
      // 0 instead of -0
      return number === undefined ? trimmed && text : number + 0;
    },
    /** `1,000`; text that is not a number is unchanged. */
    numberText: (value: TypedNumber): string => (typeof value === 'number' ? decimalText(value) : value),
  };
}

/** Those of the reader. */
export const { readNumber, numberText } = typedNumbersIn(readerLocale);
