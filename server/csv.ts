import { stringify } from 'csv-stringify';
import { pipeline, Readable } from 'node:stream';

/**
 * The rows of `ids` in that order, read piece by piece. Between two pieces neither a connection nor a snapshot is held,
 * however slowly they are taken; what is gone by its turn is left out.
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
 * A CSV stream of `rows`. Cells that a spreadsheet would run as a formula are escaped; a byte order mark tells
 * Excel that it is UTF-8. When the reader goes away, `rows` is closed.
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
  // A failure or an early end destroys both; the reply sees it, there is nothing else to do here.
  pipeline(source, csv, () => undefined);
  return csv;
}
