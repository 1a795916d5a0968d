import { Checkbox, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Explanation } from '../../../contract/machines.ts';
import { messageOf } from '../../api-error.ts';
import { DataTable, type Column } from '../../ui/DataTable.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { unusualKind } from '../releases/index.ts';
import classes from './machines.module.css';
import { machineOffersQuery } from './queries.ts';
import { bucketText, isForPlatform, reasonLabels } from './offer-labels.ts';

const title = 'Why this machine is or is not offered a release';

const columns: Column<Explanation>[] = [
  {
    accessorKey: 'version',
    header: 'Release',
    cell: ({ row }) => (
      <>
        {row.original.version}{' '}
        <span className={classes.dimmed}>
          {row.original.channel} {unusualKind(row.original.fileKind)}
        </span>
      </>
    ),
  },
  {
    accessorKey: 'reason',
    header: 'Result',
    cell: ({ row }) => (
      <StatusBadge tone={row.original.offered ? 'teal' : 'neutral'}>
        {reasonLabels[row.original.reason]}
      </StatusBadge>
    ),
  },
  {
    accessorKey: 'bucket',
    header: 'Bucket and Rollout',
    meta: { align: 'right' },
    cell: ({ row }) => bucketText(row.original),
  },
  {
    accessorKey: 'detail',
    header: 'Why',
    meta: { width: '60%' },
    cell: ({ row }) => <div className={classes.why}>{row.original.detail}</div>,
  },
];

/** The decision of the update feeds for each release, with its numbers. */
export function Offers({ machineId }: { machineId: string }) {
  const offers = useQuery(machineOffersQuery(machineId));
  const [all, setAll] = useState(false);
  const others = offers.data?.filter((offer) => !isForPlatform(offer)).length ?? 0;
  return (
    <section>
      <Group justify="space-between" mb={8} mih={28}>
        <h2 className={classes.title}>{title}</h2>
        {others > 0 && (
          <Checkbox
            label={`Show ${others} for other platforms`}
            checked={all}
            onChange={(event) => setAll(event.currentTarget.checked)}
          />
        )}
      </Group>
      {offers.isLoadingError ? (
        <ErrorState
          title="Error loading explanations"
          message={messageOf(offers.error)}
          onRetry={() => void offers.refetch()}
        />
      ) : (
        <div className={classes.table}>
          <DataTable
            label={title}
            columns={columns}
            rows={all ? offers.data : offers.data?.filter(isForPlatform)}
            rowId={(offer) => offer.releaseId}
            empty={<EmptyState title="No releases">There is no release for this machine.</EmptyState>}
          />
        </div>
      )}
    </section>
  );
}
