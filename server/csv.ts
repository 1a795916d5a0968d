import { stringify } from 'csv-stringify';
import { pipeline, Readable } from 'node:stream';

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
