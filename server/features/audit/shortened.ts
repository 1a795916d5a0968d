import { macOf, type AuditKeys } from './keys.ts';

const shown = 2;

/**
 * A text that somebody typed and that names nothing we know: it may be a password in the wrong field. Its first two
 * characters, and a hash with a key, so that the same text can be known again but not guessed.
 */
export function shortened({ current }: AuditKeys, text: string): string {
  const hash = macOf(current.entry, `lanyard typed text 1\n${text.trim().toLowerCase()}`)
    .toString('hex')
    .slice(0, 12);
  // PostgreSQL cannot store NUL, which a stranger may well send
  const start = text
    .trim()
    .slice(0, shown)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, '\uFFFD');
  return `${start}… (${hash})`;
}
