import { Text } from '@mantine/core';
import type { CustomerOverview, RefusedValidations as Group } from '../../../contract/customer-page.ts';
import { validationMessages } from '../../../contract/validation.ts';
import { LicenseLink } from '../../shell/RecordLink.tsx';
import { Card } from '../../ui/Card.tsx';
import type { Column } from '../../ui/data-table.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { EmptyState } from '../../ui/states.tsx';
import classes from './customer-page.module.css';
import { MachineName } from './MachineName.tsx';
import { countText } from '../../ui/numbers.ts';

const columns: Column<Group>[] = [
  {
    id: 'reason',
    header: 'Reason',
    width: '40%',
    cell: ({ code }) => <span className={classes.text}>{validationMessages[code]}</span>,
  },
  { id: 'machine', header: 'Machine', cell: (group) => <MachineName machine={group} /> },
  {
    id: 'license',
    header: 'License',
    cell: ({ licenseId, licenseKey }) =>
      licenseId && licenseKey ? <LicenseLink licenseId={licenseId} licenseKey={licenseKey} /> : 'Deleted',
  },
  { id: 'times', header: 'Times', align: 'right', cell: ({ times }) => countText(times) },
  { id: 'last', header: 'Last', cell: ({ last }) => <RelativeTime value={last} /> },
];

/** Why machines were refused in the last 30 days. */
export function RefusedValidations({ refused }: { refused: NonNullable<CustomerOverview['refused']> }) {
  const { groups, latest } = refused;
  return (
    <Card title="Refused Validations">
      <DataTable
        label="Refusals by reason and machine"
        columns={columns}
        rows={latest}
        rowId={({ code, licenseId, machineId }) => `${code} ${licenseId} ${machineId}`}
        empty={<EmptyState title="None refused">No validation was refused in the last 30 days.</EmptyState>}
      />
      {groups > latest.length && (
        <Text size="xs" c="dimmed" mt={8}>
          The latest {latest.length} of {countText(groups)} are shown.
        </Text>
      )}
    </Card>
  );
}
