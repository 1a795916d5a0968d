import { CannotStart } from './cannot-start.ts';
import { codeOf, isDatabaseUnreachable, isDiskFull } from './db/client.ts';
import { settingOf } from './db/setting-of.ts';
import { StorageDown } from './storage/storage.ts';

/** PostgreSQL errors at startup that are caused by its configuration, by code. */
const setUp: Record<string, string> = {
  '28P01': 'refuses the password',
  '28000': 'refuses the role',
  '3D000': 'has no such database',
  '42501': 'refuses the role a right (it must own the database, see docs/operating.md)',
  '42P01': 'has the tables of an older version (start Lanyard on it once)',
  '57014': 'ends the statements of a start (raise the statement_timeout of the role or the database)',
  '53300': 'takes no more connections',
};

/** Why the server or a tool did not start: a sentence for problems that an operator can fix, otherwise the stack. */
export function whyNotStarted(error: unknown): string {
  const { message, stack, code, path, syscall } = error as NodeJS.ErrnoException;
  if (error instanceof CannotStart || code?.startsWith('ERR_PARSE_ARGS')) return message;
  if (error instanceof StorageDown)
    return `${message}. A new database starts once STORAGE_URL works: what the audit log begins with is kept there too.`;
  if (isDiskFull(error) || /ENOSPC|No space left on device/.test(message))
    return `The disk is full: ${message}. Free some space and start again.`;
  for (const one of [error, (error as Error).cause]) {
    const refusal = setUp[codeOf(one) ?? ''];
    if (refusal) return `The PostgreSQL of ${settingOf(error)} ${refusal}: ${(one as Error).message}`;
  }
  if (/^SASL: .*password must be/.test(message))
    return `The PostgreSQL of ${settingOf(error)} asks for a password, and the address has none.`;
  if (isDatabaseUnreachable(error))
    return `The database of ${settingOf(error)} cannot be reached: ${message || code}`;
  // mkdir finds nothing where a link leads to a disk that is not mounted
  const isNoFolder =
    ['EACCES', 'EPERM', 'EROFS', 'EEXIST', 'ENOTDIR'].includes(code ?? '') || syscall === 'mkdir';
  if (path && isNoFolder) return `${message}. DATA_DIR must be a folder in which this account may write.`;
  return String(stack);
}
