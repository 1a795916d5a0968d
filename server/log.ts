import { pino, type Logger } from 'pino';
import type { Config } from './config.ts';

/**
 * The log: JSON on stdout, readable on a terminal. Addresses are logged without their query, and no header and
 * no body at all, so that no password, token or license key can be in it.
 */
export function createLog(level: Config['logLevel']): Logger {
  const pretty = process.stdout.isTTY
    ? { transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname' } } }
    : {};
  return pino({ level, base: undefined, ...pretty });
}
