import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Customer } from '../../../contract/customers.ts';
import { ListPages, ListSearch } from '../../list-search.tsx';
import { Loaded } from '../../LoadError.tsx';
import { useKept } from '../../kept-work.ts';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { useSearch } from '../../use-search.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { FilterRow, Page } from '../../ui/Page.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { trashActions, trashColumns } from './trash-columns.tsx';
import type { CustomerTrashSearch } from './customers-search.ts';
import { PermanentDelete, ReactivateCustomer } from './lazy.ts';
import { customerTrashQuery, pageSize } from './queries.ts';

const route = getRouteApi('/signed-in/customers/trash');

/** Soft-deleted customers, to be restored or permanently deleted (spec part 1, section 2). */
export function CustomerTrashPage() {
  const { search, change } = useSearch<CustomerTrashSearch>(route);
  const { can } = useAuth();
  const trash = useQuery(customerTrashQuery(search));
  const [toReactivate, setToReactivate] = useKept<Customer>('open: reactivate customer');
  const [toDelete, setToDelete] = useKept<Customer>('open: delete customer for good');

  return (
    <Page title="Soft Deleted" back={{ to: paths.customers, label: 'Back to Customers' }}>
      <FilterRow
        left={<ListSearch search={search} change={change} placeholder="Search deleted customers..." />}
      />
      <Loaded query={trash} title="Failed to load deleted customers">
        <DataTable
          label="Soft-deleted customers"
          columns={trashColumns}
          rows={trash.data?.data}
          rowId={(customer) => customer.customerId}
          rowLabel={(customer) => customer.name}
          actions={(customer) =>
            trashActions(customer, {
              onReactivate: setToReactivate,
              onDelete: setToDelete,
              whyNotReactivate: can.updateCustomers ? null : 'You may not update customers',
              whyNotDelete: can.deleteCustomers ? null : 'You may not delete customers',
            })
          }
          stale={trash.isPlaceholderData}
          empty={
            <EmptyState
              title="No deleted customers"
              onClear={search.search ? () => change({ search: undefined, page: undefined }) : undefined}
            >
              No soft-deleted customers found.
            </EmptyState>
          }
        />
        <ListPages search={search} change={change} pageSize={pageSize} mostSkipped={null} list={trash} />
      </Loaded>
      <LazyDialogs>
        {toReactivate && (
          <ReactivateCustomer customer={toReactivate} onClose={() => setToReactivate(undefined)} />
        )}
        {toDelete && (
          <PermanentDelete
            id={toDelete.customerId}
            name={toDelete.name}
            onClose={() => setToDelete(undefined)}
          />
        )}
      </LazyDialogs>
    </Page>
  );
}
