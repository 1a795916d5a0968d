import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { csvStream } from './csv.ts';

const columns = { Number: (n: number) => n };

test('what was read is sent before the next piece is read, which may take long or have no rows', async () => {
  async function* pieces() {
    yield [];
    yield [1, 2];
    await new Promise(() => {});
  }
  const file = csvStream(pieces(), columns);
  let sent = '';
  file.setEncoding('utf8');
  while (!sent.endsWith('2\n')) sent += String((await once(file, 'data'))[0]);
  expect(sent).toBe('\ufeffNumber\n1\n2\n');
});

test('nothing more is read once the reader is gone, also where no rows are found', async () => {
  let read = 0;
  async function* pieces() {
    for (; read < 1000; read++) {
      await setImmediate();
      yield [];
    }
  }
  const file = csvStream(pieces(), columns);
  await once(file.resume(), 'data');
  await once(file.destroy(), 'close');
  expect(read).toBeLessThan(10);
});
