/** `Mon` for `mon`. */
export const capitalize = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** `1 machine`, `2 machines`, `3 entries`. The console has its own, in the numbers of the reader. */
export const counted = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

/** With a full stop at its end, if it has none. */
export const asSentence = (text: string): string => (text.endsWith('.') ? text : `${text}.`);

const abbreviations = /\b(api|id|ip|url|sha512)\b/g;

/** `Max activations` for `maxActivations`, `Customer ID` for `customerId` or `customer_id`. */
export function labelOf(name: string): string {
  const words = name
    .replaceAll(/([A-Z])/g, ' $1')
    .replaceAll('_', ' ')
    .toLowerCase();
  const label = words.replaceAll(abbreviations, (word) => word.toUpperCase());
  return capitalize(label);
}

/** Whether a text is written like the id of a record. */
export const isUuid = (text: string): boolean => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text);

/** The value of a JSON text; undefined where it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The time to normalize a text grows with the square of a run of marks. 30 are more than any script has (the limit of
 * Unicode's stream-safe format). What `asLine` removes, and halfwidth sound marks, would join two runs.
 */
const longRun = /[\p{M}\p{DI}\u2800\uff9e\uff9f]{31}/u;

const control = /(?![\t\n\r])\p{Cc}/u;

/** PostgreSQL cannot store NUL, a lone surrogate is not text in any encoding, and too many marks take its time. */
export const isStorableText = (value: string): boolean =>
  !control.test(value) && value.isWellFormed() && !longRun.test(value);
