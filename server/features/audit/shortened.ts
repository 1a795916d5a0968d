import { macOf, type AuditKeys } from './keys.ts';

const shown = 2;

/**
 * The first two characters and a keyed hash of a typed text that matches no known name: it may be a password in the
 * wrong field. Equal texts can be recognized, but the text cannot be guessed from the hash.
 */
export function shortened({ current }: AuditKeys, text: string): string {
  const hash = macOf(current.entry, `lanyard typed text 1\n${text.trim().toLowerCase()}`)
    .toString('hex')
    .slice(0, 12);
  // PostgreSQL cannot store NUL, which untrusted input may contain.
  const start = text
    .trim()
    .slice(0, shown)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, '\uFFFD');
  return `${start}… (${hash})`;
}
