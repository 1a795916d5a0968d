import path from 'node:path';
import { parseArgs } from 'node:util';
import { CannotStart } from '../../server/cannot-start.ts';
import { whyNotStarted } from '../../server/why-not-started.ts';

/** What the commands of backup and restore have in common. */

/** The one argument, a file; `usage` is said where there is none, or more. */
export function fileArgument(usage: string): string {
  const { positionals } = parseArgs({ allowPositionals: true });
  if (positionals.length !== 1) throw new CannotStart(usage);
  // npm runs it in the folder of the package
  return path.resolve(process.env.INIT_CWD ?? '.', positionals[0]!);
}

/** Runs a command; a failure is a sentence, and exit code 1. */
export function runCommand(main: () => Promise<void>): void {
  main().catch((error: unknown) => {
    process.stderr.write(`${whyNotStarted(error)}\n`);
    process.exitCode = 1;
  });
}

export const say = (line: string) => void process.stdout.write(`${line}\n`);

/** What only a person who waits wants to read. */
export const sayOnTerminal = (line: string) => void (process.stdout.isTTY && say(line));

export const megabytes = (bytes: number) => `${(bytes / 1_000_000).toFixed(1)} MB`;

/** Tells every few seconds how far it is; answers what ends that. */
export function tellProgress(bytes: () => number): () => void {
  const timer = setInterval(() => say(`  ${megabytes(bytes())} so far`), 5000).unref();
  return () => clearInterval(timer);
}
