import { pino, type Logger } from 'pino';
import type { Config } from './config.ts';

/**
 * The log: JSON on stdout, human-readable on a terminal. Requests are logged by route, without URL, headers or body, so
 * that no password, token or license key can leak.
 */
export function createLog(level: Config['logLevel']): Logger {
  const options = { level, base: null, serializers: { err: loggedError } };
  return process.stdout.isTTY ? pino(options, toTerminal()) : pino(options, toStdout());
}

/** When the terminal is closed, the service still has to stop as usual. */
const toTerminal = () =>
  // without a listener, what is logged after the end of its thread would be an uncaught error
  pino.transport({ target: 'pino-pretty', options: { ignore: 'pid,hostname' } }).on('error', () => undefined);

/** What may wait for room on the disk of the log; further lines are dropped. */
const mostWaitingBytes = 100_000;

/** Stdout may be a file on a disk that is full: the service goes on, and logs again when there is room. */
function toStdout() {
  // with a least length, `flush` writes what waits
  const stdout = pino.destination({ dest: 1, minLength: 1, maxLength: mostWaitingBytes });
  const flushSync = stdout.flushSync.bind(stdout);
  let fails = false;
  // without a listener of ours, the error would be uncaught
  stdout.on('error', () => (fails = true)).on('write', () => (fails = false));
  // a dropped line is the only sign that there may be room by now
  stdout.on('drop', () => stdout.flush());
  // at the exit, which it blocks until everything is written
  stdout.flushSync = () => {
    if (!fails) flushSync();
  };
  return stdout;
}

/** Drops PostgreSQL's `detail` and `where`, which quote whole rows including keys. */
export function loggedError(error: unknown): object {
  if (!(error instanceof Error)) return { message: 'A value that is not an Error was thrown' };
  const { code, constraint, table, routine } = error as Error & Record<string, unknown>;
  return { type: error.name, message: error.message, code, constraint, table, routine, stack: error.stack };
}
