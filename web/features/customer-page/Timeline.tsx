import { Anchor, Button, Group } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { TimelineEntry } from '../../../contract/customer-page.ts';
import { LoadError } from '../../LoadError.tsx';
import { paths } from '../../paths.ts';
import { Card } from '../../ui/Card.tsx';
import type { Column } from '../../ui/data-table.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import classes from './customer-page.module.css';
import { timelineQuery } from './queries.ts';

const columns: Column<TimelineEntry>[] = [
  { id: 'at', header: 'When', width: 140, cell: ({ at }) => <RelativeTime value={at} /> },
  {
    id: 'by',
    header: 'By',
    width: 220,
    cell: ({ by }) => (by === 'system' ? 'Lanyard' : (by ?? 'Not signed in')),
  },
  {
    id: 'what',
    header: 'What',
    cell: ({ id, what, success }) => (
      <span className={classes.text}>
        <Anchor renderRoot={(root) => <Link {...root} to={paths.audit} search={{ entry: id }} />} c="inherit">
          {what}
        </Anchor>{' '}
        {!success && <StatusBadge tone="red">Failed</StatusBadge>}
      </span>
    ),
  },
];

/** Everything that was done to the customer and what is theirs, newest first. */
export function Timeline({ customerId }: { customerId: string }) {
  const timeline = useInfiniteQuery(timelineQuery(customerId));
  return (
    <Card title="Timeline">
      {timeline.isLoadingError ? (
        <LoadError title="Error loading the timeline" query={timeline} />
      ) : (
        <>
          <DataTable
            label="Timeline"
            columns={columns}
            rows={timeline.data?.pages.flatMap(({ entries }) => entries)}
            rowId={({ id }) => id}
            empty={<EmptyState title="Nothing yet">Changes appear here.</EmptyState>}
          />
          {timeline.hasNextPage && (
            <Group justify="center" mt="sm">
              <Button
                variant="default"
                loading={timeline.isFetchingNextPage}
                onClick={() => void timeline.fetchNextPage()}
              >
                Show older
              </Button>
            </Group>
          )}
        </>
      )}
    </Card>
  );
}
