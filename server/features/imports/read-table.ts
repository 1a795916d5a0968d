import { CsvError, parse } from 'csv-parse/sync';
import { mostImported, type ImportProblem } from '../../../contract/imports.ts';
import { withFormulas } from '../../csv.ts';

/** A row of a file: the text of each column, empty where the file has none. */
export type Line<Column extends string> = { line: number; cells: Record<Column, string> };

type Table<Column extends string> = { lines: Line<Column>[]; problems: ImportProblem[] };

/**
 * The rows of a CSV file by its columns, with everything that is wrong with its form. Accepts what spreadsheets write:
 * commas, semicolons or tabs, a byte order mark, a first line such as `sep=;`, every kind of line end, also mixed, and
 * columns that are empty and have no name. Cells are without the apostrophes that keep a spreadsheet from running them, and
 * in Unicode form NFC.
 */
export function readTable<Column extends string>(
  csv: string,
  columns: Readonly<Record<Column, string>>,
  required: readonly NoInfer<Column>[],
): Table<Column> {
  const text = csv.replace(/^\ufeff/, '').replaceAll(/\r\n?/g, '\n');
  const stated = /^sep=([;,\t])(?=\n)/i.exec(text);
  // an empty line in its place, so that lines are counted as in the file
  const rest = text.slice(stated?.[0].length ?? 0).split('\n');
  // a sheet may end in thousands of lines without a text
  const filled = rest.slice(0, 1 + rest.findLastIndex((line) => /[^\s,;]/.test(line)));
  const records = recordsOf(filled, stated?.[1]);
  if ('message' in records) return { lines: [], problems: [records] };
  const [header, ...rows] = records;
  if (!header) return { lines: [], problems: [{ line: 1, column: null, message: 'The file is empty' }] };
  const headerLine = header.line;
  const { order, places, problems } = readHeader(header.record, headerLine, columns, required);
  const wholly = (message: string, line = headerLine) => problems.push({ line, column: null, message });
  if (rows.length === 0) wholly('There are no rows below the names of the columns');
  if (rows.length > mostImported)
    wholly(`There are ${rows.length} rows; a file may have ${mostImported}. Split it`);
  if (problems.length > 0) return { lines: [], problems };
  const names = Object.keys(columns) as Column[];
  const lines = rows.map(({ record, line }) => {
    if (record.length > order.length)
      wholly('Has more cells than there are columns. Put a cell with a separator in quotes', line);
    else if (record.some((cell, index) => cell.trim() !== '' && order[index] === undefined))
      wholly('Has a cell in a column without a name', line);
    const cells = Object.fromEntries(
      names.map((name) => [name, textOf(record[places.get(name) ?? -1] ?? '')]),
    ) as Record<Column, string>;
    for (const name of names)
      if (noValue.test(cells[name]))
        problems.push({ line, column: columns[name], message: `${cells[name]} is the error of a formula` });
    return { line, cells };
  });
  return { lines, problems };
}

const textOf = (cell: string) => withFormulas(cell.trim().normalize('NFC'));

/** What a spreadsheet writes for a formula without a result, in any language: `#N/A`, `#BEZUG!`. */
const noValue = /^#(?:\p{Lu}\/\p{Lu}|NV|[¡¿]?[\p{Lu}\d/_]+[!?]|#+)$/u;

/** A row, and the line that it begins on. */
type Parsed = { record: string[]; line: number };

/** Lines that are parsed, each of which takes time: a cell may have several, and some between the rows may be empty. */
const mostLines = 10 * mostImported;

const stray = 'A quotation mark is not closed, or stands inside of a cell';

function recordsOf(lines: string[], delimiter = delimiterOf(lines)): Parsed[] | ImportProblem {
  if (lines.length > mostLines) {
    const message = `There are ${lines.length} lines; a file may have ${mostLines}, and ${mostImported} rows. Split it`;
    return { line: 1, column: null, message };
  }
  try {
    const parsed = parse(lines.join('\n'), {
      delimiter,
      record_delimiter: '\n',
      info: true,
      raw: true,
      // cells that are copied from a sheet have their own quotation marks, and others only around a line break
      relax_quotes: delimiter === '\t',
      trim: delimiter !== '\t',
      relax_column_count: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
    }) as unknown as { record: string[]; raw: string; info: { lines: number } }[];
    // the parser says where a row ends, and keeps the empty lines before it, of some spaces with the half of one
    const records = parsed.map(({ record, raw, info }) => ({
      record,
      line:
        info.lines -
        raw
          .replace(/^[\s\ufffd]+/, '')
          .trimEnd()
          .split('\n').length +
        1,
    }));
    // a mark that begins a cell as it is copied swallows the lines down to one that ends a cell, or to the end of the file
    const swallowing = records.find(
      ({ record }) =>
        delimiter === '\t' &&
        record.map((cell) => cell.trim()).some((cell) => cell.includes('\t') && cell.includes('\n')),
    );
    if (!swallowing) return records;
    return { line: swallowing.line, column: null, message: stray };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = (error as { lines?: number }).lines ?? 1;
    return { line, column: null, message: stray };
  }
}

/** The one that is most frequent in the first line, which holds the names of columns; a tab where there is one column. */
function delimiterOf(lines: string[]): string {
  const first = lines.find((line) => line.trim() !== '')?.trimStart() ?? '';
  const counted = ['\t', ',', ';'].map((sign) => [first.split(sign).length, sign] as const);
  return counted.toSorted(([a], [b]) => b - a)[0]?.[1] ?? '\t';
}

function readHeader<Column extends string>(
  header: string[],
  line: number,
  columns: Readonly<Record<Column, string>>,
  required: readonly Column[],
) {
  const known = Object.entries(columns) as [Column, string][];
  const byName = new Map(
    known.flatMap(([column, name]) => [column, name].map((one) => [plain(one), column])),
  );
  const order = header.map((text) => byName.get(plain(text)));
  const places = new Map<Column, number>();
  const unknown = `Is not a column. Columns are ${known.map(([, name]) => name).join(', ')}`;
  const problems: ImportProblem[] = header.flatMap((text, index) => {
    if (text.trim() === '') return [];
    const column = text.slice(0, 100);
    const meant = order[index];
    if (meant === undefined) return [{ line, column, message: unknown }];
    if (places.has(meant)) return [{ line, column, message: 'Is given more than once' }];
    places.set(meant, index);
    return [];
  });
  for (const column of required)
    if (!places.has(column)) problems.push({ line, column: columns[column], message: 'Is missing' });
  return { order, places, problems };
}

const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
