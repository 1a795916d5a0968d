import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The cells of all table rows without headers. A bar inside a cell is written `\|`. */
const rowsOf = (text) =>
  text
    .split('\n')
    .filter((line) => /^\| (?!---|What (?:the spec says|is added))/.test(line))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('\\|', '|')),
    );

/** `file › title`; the title of a describe may come between. */
function testOf(named) {
  const [file, ...titles] = named.slice(1, -1).split(' › ');
  return { file, titles };
}

/** The tests in a Test column; none if the test is missing. */
const testsOf = (cell) => (cell === '**missing**' ? [] : cell.split('<br>').map((one) => testOf(one.trim())));

/** A title without the escapes of quotes in the source. */
const plain = (text) => text.replaceAll(/\\(['"`\\])/g, '$1');

function problemOf(root, { file, titles }) {
  if (!/\.test\.tsx?$|\.e2e\.ts$/.test(file) || !existsSync(join(root, file))) return `no test file ${file}`;
  if (titles.length === 0) return `no title after ${file}`;
  const source = plain(readFileSync(join(root, file), 'utf8'));
  const missing = titles.find((title) =>
    ["'", '"', '`'].every((quote) => !source.includes(quote + plain(title) + quote)),
  );
  return missing && `${file} has no test "${missing}"`;
}

/** What a table of docs/spec-coverage says that is not so: a test that does not exist, a row of other columns. */
export function coverageProblems(root, text) {
  const rows = rowsOf(text);
  if (rows.length === 0) return ['has no rows'];
  return rows.flatMap((cells) =>
    cells.length === 2
      ? testsOf(cells[1]).flatMap((named) => problemOf(root, named) ?? [])
      : [`a row of ${cells.length} cells: ${cells[0]}`],
  );
}
