import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Customer } from '../../../contract/customers.ts';
import { ListPages, ListSearch } from '../../list-search.tsx';
import { Loaded } from '../../LoadError.tsx';
import { useKept } from '../../kept-work.ts';
import { useNavigate } from '@tanstack/react-router';
import { customerPath } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { ColumnChoice, useColumnChoice } from '../../ui/ColumnChoice.tsx';
import { factsOf, type Peek } from '../../ui/data-table.ts';
import { Facts } from '../../ui/Facts.tsx';
import { FilterChips } from '../../ui/FilterChips.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { ExportLink } from '../../ui/ListButtons.tsx';
import { FilterRow } from '../../ui/Page.tsx';
import { lazyPart } from '../../ui/lazy-part.ts';
import { useSelection } from '../../ui/use-selection.ts';
import { SelectionBar } from '../../ui/SelectionBar.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { customerActions } from './customer-actions.ts';
import { customerColumns, hiddenAtFirst } from './customer-columns.tsx';
import { customerChips } from './customer-chips.ts';
import { CustomerFilters } from './CustomerFilters.tsx';
import { customerExportUrl, customerListQuery, customerView, pageSize } from './queries.ts';
import { openViewOf, Views } from '../views/index.ts';
import { useCustomerListSearch } from './customers-search.ts';

const DeleteCustomers = lazyPart(() => import('./DeleteCustomers.tsx'));

const peek: Peek<Customer> = {
  title: 'Customer',
  to: ({ customerId }) => customerPath(customerId),
  content: (customer) => <Facts facts={factsOf(customerColumns, customer)} />,
};

/** Filters, table and pages of the customer list. */
export function CustomerList() {
  const { search, change } = useCustomerListSearch();
  const { can } = useAuth();
  const list = useQuery(customerListQuery(search));
  const filters = customerChips(search);
  const [visibility, setVisibility] = useColumnChoice('customers', hiddenAtFirst);
  const { dialog: _dialog, edit: _edit, policy: _policy, tag: _tag, view: _view, ...filter } = search;
  const rows = list.data?.data;
  const ids = rows?.map(({ customerId }) => customerId);
  const [selection, select] = useSelection(filter, ids);
  const [toDelete, setToDelete] = useKept<Customer[]>('open: delete customers');
  const selected = rows?.filter((customer) => selection.has(customer.customerId)) ?? [];
  const isSelected = selected.length > 0;
  const viewed = { list: 'customers', search, params: customerView } as const;
  const navigate = useNavigate();
  const actions = customerActions({
    onPage: ({ customerId }) => void navigate({ to: customerPath(customerId) } as never),
    onEdit: can.updateCustomers ? (customer) => change({ edit: customer.customerId }) : undefined,
    onPolicy: can.updatePolicies ? (customer) => change({ policy: customer.customerId }) : undefined,
    onDelete: can.deleteCustomers ? (customer) => setToDelete([customer]) : undefined,
  });

  return (
    <>
      <FilterRow
        left={
          <>
            <ListSearch search={search} change={change} placeholder="Search customers..." />
            {isSelected && (
              <SelectionBar count={selected.length} onClear={() => select(new Set())}>
                <Button variant="default" onClick={() => setToDelete(selected)}>
                  Delete Selected
                </Button>
              </SelectionBar>
            )}
          </>
        }
        filters={!isSelected && <CustomerFilters />}
        filtersSet={filters.chips.length}
        right={
          !isSelected && (
            <>
              <Views {...viewed} />
              <ColumnChoice columns={customerColumns} visibility={visibility} onChange={setVisibility} />
              <ExportLink href={customerExportUrl(search)} />
            </>
          )
        }
      />
      <FilterChips {...filters} before={openViewOf(viewed)} change={change} />
      <Loaded query={list} title="Error loading customers" retryLabel="Retry Loading">
        <DataTable
          label="Customers"
          columns={customerColumns}
          rows={rows}
          rowId={(customer) => customer.customerId}
          rowLabel={(customer) => customer.name}
          actions={actions}
          peek={peek}
          sort={search.sort ?? 'name'}
          onSort={(sort) => change({ sort })}
          columnVisibility={visibility}
          selection={can.deleteCustomers ? selection : undefined}
          onSelection={select}
          stale={list.isPlaceholderData}
          empty={<NoCustomers />}
        />
        <ListPages search={search} change={change} pageSize={pageSize} mostSkipped={null} list={list} />
      </Loaded>
      <LazyDialogs>
        {toDelete && (
          <DeleteCustomers
            customers={toDelete}
            onClose={() => setToDelete(undefined)}
            onDeleted={() => select(new Set())}
          />
        )}
      </LazyDialogs>
    </>
  );
}

function NoCustomers() {
  const { search, change } = useCustomerListSearch();
  const { can } = useAuth();
  const { chips, none } = customerChips(search);
  const filtered = Boolean(search.search || chips.length > 0);
  return (
    <EmptyState
      onClear={filtered ? () => change({ ...none, search: undefined }) : undefined}
      action={
        !filtered &&
        can.createCustomers && (
          <Button onClick={() => change({ dialog: 'create' })}>Create Your First Customer</Button>
        )
      }
    >
      No customers found. Try adjusting your search.
    </EmptyState>
  );
}
