import { pino, type Logger } from 'pino';
import type { Config } from './config.ts';

/**
 * The log: JSON on stdout, human-readable on a terminal. Requests are logged by route, without URL, headers or body, so
 * that no password, token or license key can leak.
 */
export function createLog(level: Config['logLevel']): Logger {
  const pretty = process.stdout.isTTY
    ? { transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname' } } }
    : {};
  return pino({ level, base: null, serializers: { err: loggedError }, ...pretty });
}

/** Drops PostgreSQL's `detail` and `where`, which quote whole rows including keys. */
export function loggedError(error: unknown): object {
  if (!(error instanceof Error)) return { message: 'Not an error was thrown' };
  const { code, constraint, table, routine } = error as Error & Record<string, unknown>;
  return { type: error.name, message: error.message, code, constraint, table, routine, stack: error.stack };
}
