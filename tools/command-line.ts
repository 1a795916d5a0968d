import { parseArgs } from 'node:util';
import { CannotStart } from '../server/cannot-start.ts';
import { holdOpen } from '../server/hold-open.ts';
import { startUntilSignal, type Start } from '../server/stop.ts';
import { whyNotStarted } from '../server/why-not-started.ts';
import { fromCaller } from './from-caller.ts';

/** The only argument, a file. Throws CannotStart with `usage` if there is none, or more than one. */
export function fileArgument(usage: string): string {
  const [file, ...others] = parseArgs({ allowPositionals: true }).positionals;
  if (file === undefined || others.length > 0) throw new CannotStart(usage);
  return fromCaller(file);
}

let isEnded = false;

/** From now on a signal ends the command, with 1: what fails by that is not told. */
export function untilSignal(): Start {
  const command = startUntilSignal(1);
  command.signal.addEventListener('abort', () => {
    isEnded = true;
    // idle connections to a database that is stopped
    process.on('uncaughtException', () => undefined);
  });
  return command;
}

/** Runs a command; prints an error as a sentence, and exits with 1. */
export function runCommand(main: () => Promise<void>): void {
  holdOpen(main()).catch((error: unknown) => {
    if (isEnded) return;
    process.stderr.write(`${whyNotStarted(error)}\n`);
    process.exitCode = 1;
  });
}

export const say = (line: string) => void process.stdout.write(`${line}\n`);

/** Prints where the head of the audit log could not be kept by a command that is done otherwise, and has it exit with 1. */
export function sayNotKept(problems: string[]): void {
  if (problems.length === 0) return;
  problems.forEach(say);
  say(
    'A running server tries again every minute. If it reports a broken log, run: npm run audit:verify -- --accept "…"',
  );
  process.exitCode = 1;
}

/** Prints a line only if a person watches the command. */
export const sayOnTerminal = (line: string) => void (process.stdout.isTTY && say(line));

export const megabytes = (bytes: number) => `${(bytes / 1_000_000).toFixed(1)} MB`;

/** Prints the bytes processed every 5 seconds; returns a function that stops that. */
export function showProgress(bytes: () => number): () => void {
  const timer = setInterval(() => say(`  ${megabytes(bytes())} so far`), 5000).unref();
  return () => clearInterval(timer);
}
