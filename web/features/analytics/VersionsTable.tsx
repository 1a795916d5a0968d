import { Skeleton } from '@mantine/core';
import type { CustomerUse } from '../../../contract/analytics.ts';
import { RecordLink } from '../../shell/RecordLink.tsx';
import { Card } from '../../ui/Card.tsx';
import { FigureTable } from '../../ui/FigureTable.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { versionsByCustomer } from './series.ts';

const title = 'Versions in the Field';

/** Machines of the top customers by version. */
export function VersionsTable({ versions }: { versions: CustomerUse['versions'] | undefined }) {
  if (!versions) return <Skeleton height={220} radius={8} />;
  const { names, rows } = versionsByCustomer(versions);
  return (
    <Card title={title}>
      {rows.length === 0 ? (
        <EmptyState title="No versions yet">Machines say their version when they validate.</EmptyState>
      ) : (
        <FigureTable
          title={title}
          columns={['Customer', ...names]}
          rows={rows.map(({ customerId, company, figures }) => [
            <RecordLink key={customerId} kind="customer" id={customerId}>
              {company}
            </RecordLink>,
            ...figures,
          ])}
        />
      )}
    </Card>
  );
}
