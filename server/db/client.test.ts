import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../tests/harness.ts';
import { createPool, isoTimes } from './client.ts';

const pool = createPool((await createTestDatabase()).url, 1);
afterAll(() => pool.end());

test('a time that is read as text is the one of a Date, to the millisecond', async () => {
  const text = `select t from unnest($1::text[]::timestamptz[]) t`;
  const reads = async (times: readonly string[]) => {
    const asDates = await pool.query<{ t: Date }>({ text, values: [times] });
    const asTexts = await pool.query<{ t: string }>({ text, values: [times], types: isoTimes });
    expect(asTexts.rows.map(({ t }) => t)).toEqual(asDates.rows.map(({ t }) => t.toISOString()));
  };
  await reads([
    '2026-11-20 09:30:00.1',
    '2026-11-20 09:30:00.999999',
    'infinity',
    '0044-03-15 BC',
    '12026-01-01',
  ]);
  const moment = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
  const micros = fc.integer({ min: 0, max: 999 }).map((n) => String(n).padStart(3, '0'));
  const time = fc.tuple(moment, micros).map(([at, rest]) => `${at.toISOString().slice(0, -1)}${rest}Z`);
  await fc.assert(fc.asyncProperty(fc.array(time), reads), { numRuns: 20 });
});

test('an array of texts is read as it was written, whatever is in it', async () => {
  const reads = async (texts: readonly (string | null)[]) => {
    const { rows } = await pool.query<{ texts: unknown }>('select $1::text[] as texts', [texts]);
    expect(rows[0]!.texts).toEqual(texts);
  };
  for (const text of ['', ' ', 'null', 'NULL', '{}', '{a,b}', 'a,b', '"', '\\', 'plain', '[1:2]={a,b}'])
    await reads([text, 'beside']);
  await reads([]);
  await fc.assert(fc.asyncProperty(fc.array(fc.option(fc.stringMatching(/^[ -~]*$/))), reads), {
    numRuns: 50,
  });
  const { rows } = await pool.query<{ texts: unknown }>(`select array[['a','b'],['c','d']] as texts`);
  expect(rows[0]!.texts).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
});
