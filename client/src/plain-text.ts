/**
 * At most so many characters of a text, as the service takes them: without control characters, which its database cannot
 * store, and without halves of a character, which a cut makes as well.
 */
export const plainText = (text: string, most: number): string =>
  text.slice(0, most).replaceAll(/(?![\t\n\r])[\p{Cc}\p{Cs}]/gu, '');
