import { expect, test } from 'vitest';
import { tellFirstPassword } from './first-password.ts';

test('the first password is shown on a terminal, and written nowhere else', async () => {
  const said: string[] = [];
  const logged: unknown[] = [];
  await tellFirstPassword(
    { email: 'admin@localhost', password: 'once and only' },
    {
      terminal: { isTTY: true, write: (text) => said.push(text) },
      dataDir: '/nowhere',
      log: { warn: (...words: unknown[]) => void logged.push(words) },
    },
  );
  expect(said.join('')).toMatch(
    /First sign-in \(shown only now\):\n +email +admin@localhost\n +password +once and only\n/,
  );
  expect(logged).toEqual([]);
});
