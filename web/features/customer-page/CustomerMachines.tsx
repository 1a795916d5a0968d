import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { CustomerMachine } from '../../../contract/customer-page.ts';
import { ListPages, ListSearch } from '../../list-search.tsx';
import { Loaded } from '../../LoadError.tsx';
import { usePrintedPage } from '../../printed-list.ts';
import { LicenseLink, VersionLink } from '../../shell/RecordLink.tsx';
import { Card } from '../../ui/Card.tsx';
import type { Column } from '../../ui/data-table.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { ActivationStatus } from '../activations/index.ts';
import { platformText } from '../../platform-text.ts';
import { MachineName } from './MachineName.tsx';
import { machinesQuery } from './queries.ts';
import { machinePages, useCustomerSearch } from './customer-search.ts';

const columns: Column<CustomerMachine>[] = [
  { id: 'machine', header: 'Machine', width: '30%', cell: (machine) => <MachineName machine={machine} /> },
  {
    id: 'platform',
    header: 'Platform',
    cell: ({ platform, architecture }) => platformText(platform, architecture),
  },
  { id: 'version', header: 'Version', least: 84, cell: (machine) => <VersionLink {...machine} /> },
  { id: 'lastSeen', header: 'Last Seen', cell: ({ lastSeen }) => <RelativeTime value={lastSeen} /> },
  {
    id: 'license',
    header: 'License',
    cell: (machine) => <LicenseLink {...machine} />,
  },
  {
    id: 'status',
    header: 'Seat',
    cell: (machine) => <ActivationStatus activation={machine} />,
  },
];

/** The machines of the customer, with a search for a host name. */
export function CustomerMachines({ customerId }: { customerId: string }) {
  const { search, change } = useCustomerSearch();
  const { page, pageSize } = usePrintedPage(search.page, machinePages.pageSize);
  const machines = useQuery(machinesQuery(customerId, { search: search.search, page }, pageSize));
  return (
    <Card
      title="Machines"
      actions={<ListSearch search={search} change={change} placeholder="Search host name..." />}
    >
      <Loaded query={machines} title="Error loading machines">
        <Stack gap="sm">
          <DataTable
            label="Machines of the customer"
            columns={columns}
            rows={machines.data?.data}
            rowId={({ activationId }) => activationId}
            stale={machines.isPlaceholderData}
            empty={
              <EmptyState
                title="No machines"
                onClear={search.search ? () => change({ search: undefined }) : undefined}
              >
                {search.search
                  ? 'No machine of this customer matches.'
                  : 'No machine has used a license of this customer.'}
              </EmptyState>
            }
          />
          {machines.data && machines.data.data.length > 0 && (
            <Text size="xs" c="dimmed">
              One row for each license that a machine has used, also where it holds no seat now.
            </Text>
          )}
          {(search.page !== undefined || (machines.data?.meta.total ?? 0) > machinePages.pageSize) && (
            <ListPages
              label="Pages of machines"
              search={{ page }}
              change={change}
              {...machinePages}
              pageSize={pageSize}
              list={machines}
            />
          )}
        </Stack>
      </Loaded>
    </Card>
  );
}
