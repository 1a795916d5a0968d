import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'docs/spec-coverage');

type Named = { file: string; titles: string[] };

/** The cells of all table rows without headers. A bar inside a cell is written `\|`. */
const rowsOf = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => /^\| (?!---|What the spec says)/.test(line))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('\\|', '|')),
    );

/** `file › title` or `file` › title; the title of a describe may come between. */
function testOf(named: string): Named {
  const [file = '', ...titles] = named.replace(/^`([^`]*)`$/, '$1').split(' › ');
  return { file: file.replaceAll('`', ''), titles };
}

/** The tests in a Test column; none if the test is missing. */
const testsOf = (cell: string): Named[] =>
  cell === '**missing**' ? [] : cell.split('<br>').map((one) => testOf(one.trim()));

/** A title without the escapes of quotes in the source. */
const plain = (text: string) => text.replaceAll(/\\(['"`\\])/g, '$1');

function problemOf({ file, titles }: Named): string | undefined {
  if (!/\.test\.tsx?$|\.e2e\.ts$/.test(file) || !existsSync(join(root, file))) return `no test file ${file}`;
  if (titles.length === 0) return `no title after ${file}`;
  const source = plain(readFileSync(join(root, file), 'utf8'));
  const missing = titles.find((title) =>
    ["'", '"', '`'].every((q) => !source.includes(q + plain(title) + q)),
  );
  return missing && `${file} has no test ${missing}`;
}

const tables = readdirSync(folder).filter((name) => name.endsWith('.md'));

test.each(tables)('every test that %s names exists', (name) => {
  const rows = rowsOf(readFileSync(join(folder, name), 'utf8'));
  expect(rows.length).toBeGreaterThan(0);
  const problems = rows.flatMap((cells) => {
    if (cells.length !== 2) return [`a row of ${cells.length} cells: ${cells[0]}`];
    return testsOf(cells[1]!).flatMap((named) => problemOf(named) ?? []);
  });
  expect(problems).toEqual([]);
});
