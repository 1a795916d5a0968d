import { Button, Group, SegmentedControl, Text } from '@mantine/core';
import { useRef, useState, type ReactNode, type RefObject } from 'react';
import { Card } from './Card.tsx';
import { saveCsv, savePng } from './export-chart.ts';
import { FigureTable, type Figures } from './FigureTable.tsx';

const views = [
  { value: 'chart', label: 'Chart' },
  { value: 'table', label: 'Table' },
];

/** A chart with a title, which can also be shown as a table. */
export function ChartCard(
  props: Figures & {
    /** Shown instead of both if there is no data. */
    empty: ReactNode;
    children: ReactNode;
    /** What shows the names in the table, such as their links, or a day as the reader writes it. */
    names?: readonly ReactNode[];
    /** Shown below chart and table. */
    note?: ReactNode;
    /** Offers the table as CSV and the drawing as PNG. */
    exportable?: boolean;
  },
) {
  const { title, columns, rows, names, empty, children, note } = props;
  const [view, setView] = useState('chart');
  const card = useRef<HTMLElement>(null);
  const figures = { title, columns, rows };
  return (
    <Card
      title={title}
      ref={card}
      actions={
        rows.length > 0 && (
          <Group gap={6} className="screen-only">
            {props.exportable && (
              <ExportButtons figures={figures} card={card} hasDrawing={view === 'chart'} />
            )}
            <SegmentedControl aria-label={`${title} as`} data={views} value={view} onChange={setView} />
          </Group>
        )
      }
    >
      {rows.length === 0 ? (
        empty
      ) : view === 'chart' ? (
        children
      ) : (
        <FigureTable
          {...figures}
          rows={rows.map(([name, ...values], row) => [names?.[row] ?? name, ...values])}
        />
      )}
      {note && (
        <Text size="xs" c="dimmed" mt={6}>
          {note}
        </Text>
      )}
    </Card>
  );
}

function ExportButtons(props: {
  figures: Figures;
  card: RefObject<HTMLElement | null>;
  hasDrawing: boolean;
}) {
  const { figures, card, hasDrawing } = props;
  return (
    <>
      <Button
        variant="subtle"
        size="compact-xs"
        aria-label={`${figures.title} as CSV`}
        onClick={() => saveCsv(figures)}
      >
        CSV
      </Button>
      {hasDrawing && (
        <Button
          variant="subtle"
          size="compact-xs"
          aria-label={`${figures.title} as PNG`}
          onClick={() => card.current && void savePng(figures.title, card.current)}
        >
          PNG
        </Button>
      )}
    </>
  );
}
