import { Group, SegmentedControl } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import classes from './ChartCard.module.css';

const views = [
  { value: 'chart', label: 'Chart' },
  { value: 'table', label: 'Table' },
];

/** A chart under its title, which can be read as a table as well: its first column names the row. */
export function ChartCard(props: {
  title: string;
  columns: readonly string[];
  rows: readonly (readonly [name: string, ...values: number[]])[];
  /** Shown instead of both when there is nothing to draw. */
  empty: ReactNode;
  children: ReactNode;
}) {
  const { title, columns, rows, empty, children } = props;
  const [view, setView] = useState('chart');
  return (
    <section className={classes.card} aria-label={title}>
      <Group justify="space-between" mb={10} mih={28}>
        <h2 className={classes.title}>{title}</h2>
        {rows.length > 0 && (
          <SegmentedControl aria-label={`${title} as`} data={views} value={view} onChange={setView} />
        )}
      </Group>
      {rows.length === 0 ? (
        empty
      ) : view === 'chart' ? (
        children
      ) : (
        <div className={classes.tableBox} tabIndex={0} role="region" aria-label={`${title}, table`}>
          <table>
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
                <tr key={`${name} ${row}`}>
                  <th scope="row">{name}</th>
                  {values.map((value, column) => (
                    <td key={columns[column + 1]}>{value.toLocaleString('en')}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
