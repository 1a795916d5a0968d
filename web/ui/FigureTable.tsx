import type { ReactNode } from 'react';
import { OfWhichProven } from './OfWhichProven.tsx';
import classes from './FigureTable.module.css';
import { countText } from './numbers.ts';

/** Figures in rows; the first column is the name of the row. null: there is none, which is not 0. */
export type Figures = {
  title: string;
  columns: readonly string[];
  rows: readonly (readonly [name: string, ...values: (number | null)[]])[];
};

/** A number, or one of machines. */
type Figure = number | null | { all: number; proven: number };
type FigureRows = readonly (readonly [name: ReactNode, ...values: Figure[]])[];

/** A table of figures that scrolls horizontally. */
export function FigureTable({ title, columns, rows }: Omit<Figures, 'rows'> & { rows: FigureRows }) {
  return (
    <div className={classes.box} tabIndex={0} role="region" aria-label={`${title}, table`}>
      <table className={classes.table}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, ...values], row) => (
            <tr key={row}>
              <th scope="row">{name}</th>
              {values.map((value, column) => (
                <td key={columns[column + 1]}>
                  {value === null ? (
                    '—'
                  ) : typeof value === 'number' ? (
                    countText(value)
                  ) : (
                    <OfWhichProven {...value} />
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
