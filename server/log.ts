import { pino, type Logger } from 'pino';
import type { Config } from './config.ts';

/**
 * The log: JSON on stdout, readable on a terminal. Requests are logged by their route, never by their address, and no
 * header and no body at all, so that no password, token or license key can be in it.
 */
export function createLog(level: Config['logLevel']): Logger {
  const pretty = process.stdout.isTTY
    ? { transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname' } } }
    : {};
  return pino({ level, base: null, serializers: { err: loggedError }, ...pretty });
}

/** PostgreSQL's `detail` and `where` quote whole rows, keys and all: only what names the fault is kept. */
export function loggedError(error: unknown): object {
  if (!(error instanceof Error)) return { message: 'Not an error was thrown' };
  const { code, constraint, table, routine } = error as Error & Record<string, unknown>;
  return { type: error.name, message: error.message, code, constraint, table, routine, stack: error.stack };
}
