import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { folded } from '../web/ui/folded.ts';
import { startTestServer } from './harness.ts';

test('the console compares texts as the searches of the service do', async () => {
  const { db } = await startTestServer();
  const [first, last] = [0x20, 0x24ff];
  const characters = Array.from({ length: last - first + 1 }, (_, at) => String.fromCodePoint(first + at));
  const names = ['Charite\u0301 Berlin', 'ΝΟΣΟΚΟΜΕΙΟ ΣΟΦΟΣ', 'Νοσοκομείο Σοφός', 'ＣＴ １'];
  const texts = [...characters, ...names];
  const { rows } = await sql<{ text: string; found: string }>`
    select text, search_fold(text) as found from unnest(${texts}::text[]) text`.execute(db);
  expect(rows).toHaveLength(texts.length);
  expect(rows.map(({ text, found }) => [text, folded(found)])).toEqual(
    rows.map(({ text }) => [text, folded(text)]),
  );
});
