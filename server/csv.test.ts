import { once } from 'node:events';
import { expect, test } from 'vitest';
import { csvStream } from './csv.ts';

test('what was read is sent before the next piece is read, which may take long or have no rows', async () => {
  async function* pieces() {
    yield [];
    yield [1, 2];
    await new Promise(() => {});
  }
  const file = csvStream(pieces(), { Number: (n) => n });
  let sent = '';
  file.setEncoding('utf8');
  while (!sent.endsWith('2\n')) sent += String((await once(file, 'data'))[0]);
  expect(sent).toBe('\ufeffNumber\n1\n2\n');
});
