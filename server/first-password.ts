import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';

type Output = {
  terminal: { isTTY?: boolean; write(text: string): unknown };
  dataDir: string;
  log: Pick<Logger, 'warn'>;
};

/**
 * Tells the password of the first administrator on the terminal. What is no terminal is kept and shipped, as logs
 * are: then it goes into the file `first-password` of the data directory, which the log names.
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
  // a file that is there already would keep the rights that it has
  await rm(file, { force: true });
  await writeFile(file, lines, { flag: 'wx', mode: 0o600 });
  log.warn({ file }, 'Email and password of the first sign-in lie in this file. Delete it afterwards');
}
