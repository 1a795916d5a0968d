import { stringify, type Options } from 'csv-stringify/sync';
import { Readable } from 'node:stream';

/**
 * The rows of `ids` in that order, in the pieces in which they are read. No connection or snapshot is held between
 * pieces, even if the reader is slow; rows deleted meanwhile are skipped.
 */
export async function* inPieces<Row>(
  ids: string[],
  read: (ids: string[]) => Promise<Row[]>,
  idOf: (row: Row) => string,
): AsyncGenerator<Row[]> {
  for (let start = 0; start < ids.length; start += atOnce) {
    const wanted = ids.slice(start, start + atOnce);
    const rows = new Map((await read(wanted)).map((row) => [idOf(row), row]));
    yield wanted.flatMap((id) => rows.get(id) ?? []);
  }
}

const atOnce = 500;

/**
 * A CSV stream of rows, in the pieces in which they are read: nothing that was read waits for the next piece, which may
 * take long. Cells that a spreadsheet would run as a formula are escaped; a byte order mark makes Excel read UTF-8. When
 * the reader disconnects, `pieces` is closed.
 */
export const csvStream = <Row>(
  pieces: AsyncIterable<readonly Row[]>,
  columns: Record<string, (row: Row) => unknown>,
): Readable => Readable.from(texts(pieces, columns), { objectMode: false });

/** Many rows in each text: each is compressed and sent by itself. */
async function* texts<Row>(
  pieces: AsyncIterable<readonly Row[]>,
  columns: Record<string, (row: Row) => unknown>,
): AsyncGenerator<string> {
  let format = formatOf(columns);
  for await (const rows of pieces) {
    for (let start = 0; start === 0 || start < rows.length; start += inOneText) {
      const some = rows.slice(start, start + inOneText);
      yield stringify(
        some.map((row) => cellsOf(row, columns)),
        format,
      );
      format = {};
    }
  }
  yield stringify([], format);
}

const inOneText = 200;

/** The same for a few rows, as text. */
export const csvText = <Row>(rows: readonly Row[], columns: Record<string, (row: Row) => unknown>): string =>
  stringify(
    rows.map((row) => cellsOf(row, columns)),
    formatOf(columns),
  );

const cellsOf = <Row>(row: Row, columns: Record<string, (row: Row) => unknown>) =>
  Object.values(columns).map((read) => {
    const value = read(row) ?? '';
    return typeof value === 'string' ? withoutFormulas(value) : value;
  });

/**
 * The text of a CSV cell, escaped wherever a spreadsheet could begin a cell with it and run it as a formula: in many
 * locales, Excel separates by semicolons, also within quotes, and then takes quotation marks away.
 */
export const withoutFormulas = (text: string): string =>
  text.replaceAll(/(?<![^;\t\r\n])(?=["']*[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20])/g, "'");

/** The text that `withoutFormulas` was given. */
export const withFormulas = (text: string): string =>
  text.replaceAll(/(?<![^;\t\r\n])'(?=["']*[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20])/g, '');

const formatOf = (columns: object): Options => ({
  header: true,
  columns: Object.keys(columns),
  bom: true,
});
