/** A key in groups of four, easier to type from the screen. */
export const inGroups = (key: string): string => key.replace(/(.{4})(?=.)/g, '$1 ');
