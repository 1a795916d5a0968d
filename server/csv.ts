import { stringify } from 'csv-stringify';
import { pipeline, Readable } from 'node:stream';

/**
 * The rows of `ids` in that order, read in batches. No connection or snapshot is held between batches, even if the
 * reader is slow; rows deleted meanwhile are skipped.
 */
export async function* inPieces<Row>(
  ids: string[],
  read: (ids: string[]) => Promise<Row[]>,
  idOf: (row: Row) => string,
): AsyncGenerator<Row> {
  for (let start = 0; start < ids.length; start += atOnce) {
    const wanted = ids.slice(start, start + atOnce);
    const rows = new Map((await read(wanted)).map((row) => [idOf(row), row]));
    for (const id of wanted) {
      const row = rows.get(id);
      if (row) yield row;
    }
  }
}

const atOnce = 500;

/**
 * A CSV stream of `rows`. Cells that a spreadsheet would run as a formula are escaped; a byte order mark makes Excel
 * read UTF-8. When the reader disconnects, `rows` is closed.
 */
export function csvStream<Row>(
  rows: AsyncIterable<Row>,
  columns: Record<string, (row: Row) => unknown>,
): Readable {
  const cells = (row: Row) => Object.values(columns).map((read) => read(row) ?? '');
  const source = Readable.from(
    (async function* () {
      for await (const row of rows) yield cells(row);
    })(),
  );
  const csv = stringify({ header: true, columns: Object.keys(columns), bom: true, escape_formulas: true });
  // A failure or an early end destroys both streams, and the reply reports it.
  pipeline(source, csv, () => undefined);
  return csv;
}
