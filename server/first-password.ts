import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';

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
  // An existing file would keep its permissions.
  await rm(file, { force: true });
  await writeFile(file, lines, { flag: 'wx', mode: 0o600 });
  log.warn({ file }, 'Email and password of the first sign-in lie in this file. Delete it afterwards');
}
