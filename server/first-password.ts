import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';
import { readOrMake } from './key-file.ts';

type Output = {
  terminal: { isTTY?: boolean; write(text: string): unknown };
  dataDir: string;
  log: Pick<Logger, 'warn'>;
};

/**
 * Prints the password of the first administrator to the terminal. Other outputs are stored and shipped as logs, so
 * there it is written to the file `first-password` of the data directory, which the log names.
 */
export async function tellFirstPassword(
  { email, password }: { email: string; password: string },
  { terminal, dataDir, log }: Output,
): Promise<void> {
  const lines = `    email     ${email}\n    password  ${password}\n`;
  if (terminal.isTTY) {
    terminal.write(`\n  First sign-in (shown only now):\n${lines}\n`);
    return;
  }
  const file = path.join(dataDir, 'first-password');
  // left by a start that could not create the administrator
  await rm(file, { force: true });
  await readOrMake(file, () => lines);
  log.warn({ file }, 'Email and password of the first sign-in lie in this file. Delete it afterwards');
}
