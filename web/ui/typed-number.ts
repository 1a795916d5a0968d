/** What a number field holds: the number that was typed, or the text as it was typed where that is none. */
export type TypedNumber = number | string;

/** Groups of three digits as they are shown here (`1,000`), or as spaces and apostrophes set them apart. */
const grouped = /^-?[1-9]\d{0,2}(?:([ ,'’\u00a0\u2009\u202f])\d{3})(?:\1\d{3})*$/;
/** A point before exactly three digits may set groups apart as well: `1.000` is nobody's certain number. */
const plain = /^-?\d+(?:\.\d{1,2})?$/;

/**
 * The number that `text` says, with `unit` behind it or without; otherwise the text as it stands, for the form's
 * schema to refuse. Nothing is guessed or rounded: exponents, commas for decimals and other signs are no number.
 */
export function readNumber(text: string, unit = ''): TypedNumber {
  const trimmed = text.trim();
  const digits = unit && trimmed.endsWith(unit) ? trimmed.slice(0, -unit.length).trimEnd() : trimmed;
  if (grouped.test(digits)) return Number(digits.replaceAll(/[^\d-]/g, ''));
  const number = Number(digits);
  const isWhole = Number.isInteger(number);
  // `5.0` says more than 5: in a field for whole numbers it is not put right behind the person's back.
  return plain.test(digits) && (!isWhole || !digits.includes('.')) ? number + 0 : text;
}

/** `1,000`; text that is no number as it stands. */
export const numberText = (value: TypedNumber): string =>
  typeof value === 'number' ? value.toLocaleString('en', { maximumFractionDigits: 2 }) : value;
