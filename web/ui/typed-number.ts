/** The value of a number field: the number, or the typed text if it is not a number. */
export type TypedNumber = number | string;

/** Groups of three digits, separated by commas as displayed here (`1,000`), by spaces or by apostrophes. */
const grouped = /^-?[1-9]\d{0,2}(?:([ ,'’\u00a0\u2009\u202f])\d{3})(?:\1\d{3})*$/;
/** A point before exactly three digits could also separate groups, so `1.000` is ambiguous. */
const plain = /^-?\d+(?:\.\d{1,2})?$/;

/**
 * Parses a number with or without `unit` after it; returns other text unchanged, which the schema of the form refuses.
 * Nothing is guessed or rounded: exponents, decimal commas and other characters are not accepted.
 */
export function readNumber(text: string, unit = ''): TypedNumber {
  const trimmed = text.trim();
  const digits = unit && trimmed.endsWith(unit) ? trimmed.slice(0, -unit.length).trimEnd() : trimmed;
  if (grouped.test(digits)) return Number(digits.replaceAll(/[^\d-]/g, ''));
  const number = Number(digits);
  const isWhole = Number.isInteger(number);
  // `5.0` is not changed silently to 5 in a field for whole numbers.
  return plain.test(digits) && (!isWhole || !digits.includes('.')) ? number + 0 : text;
}

/** `1,000`; text that is not a number is unchanged. */
export const numberText = (value: TypedNumber): string =>
  typeof value === 'number' ? value.toLocaleString('en', { maximumFractionDigits: 2 }) : value;
