import { Button, Group, SegmentedControl } from '@mantine/core';
import { useRef, useState, type ReactNode, type RefObject } from 'react';
import classes from './ChartCard.module.css';
import { saveCsv, savePng, type ChartTable } from './export-chart.ts';

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
  /** Offers the table as CSV and the drawing as PNG. */
  exportable?: boolean;
}) {
  const { title, columns, rows, empty, children } = props;
  const [view, setView] = useState('chart');
  const card = useRef<HTMLElement>(null);
  return (
    <section className={classes.card} aria-label={title} ref={card}>
      <Group justify="space-between" mb={10} mih={28}>
        <h2 className={classes.title}>{title}</h2>
        {rows.length > 0 && (
          <Group gap={6}>
            {props.exportable && (
              <ExportButtons table={{ title, columns, rows }} card={card} hasDrawing={view === 'chart'} />
            )}
            <SegmentedControl aria-label={`${title} as`} data={views} value={view} onChange={setView} />
          </Group>
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

function ExportButtons(props: {
  table: ChartTable;
  card: RefObject<HTMLElement | null>;
  hasDrawing: boolean;
}) {
  const { table, card, hasDrawing } = props;
  return (
    <>
      <Button
        variant="subtle"
        size="compact-xs"
        aria-label={`${table.title} as CSV`}
        onClick={() => saveCsv(table)}
      >
        CSV
      </Button>
      {hasDrawing && (
        <Button
          variant="subtle"
          size="compact-xs"
          aria-label={`${table.title} as PNG`}
          onClick={() => void savePng(table.title, card.current!)}
        >
          PNG
        </Button>
      )}
    </>
  );
}
