/** Splits a key into groups of four, which are easier to type from the screen. */
export const inGroups = (key: string): string => key.replace(/(.{4})(?=.)/g, '$1 ');
