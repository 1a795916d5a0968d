import { countryName } from '../../../contract/countries.ts';
import type { Customer } from '../../../contract/customers.ts';
import { actionsColumn, type Column } from '../../ui/data-table.ts';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { RowActions, RowButton } from '../../ui/RowButton.tsx';
import { ActiveBadge } from '../../ui/StatusBadge.tsx';

/** Columns that are not in the spec, hidden until the user shows them. */
export const hiddenAtFirst = { contactName: false, phone: false, licenseCount: false, createdAt: false };

type Handlers = {
  onEdit: ((customer: Customer) => void) | undefined;
  onPolicy: ((customer: Customer) => void) | undefined;
  onDelete: ((customer: Customer) => void) | undefined;
};

/** Columns of the customer list. Ids of sortable columns are the sort names of the service. */
export function customerColumns({ onEdit, onPolicy, onDelete }: Handlers): Column<Customer>[] {
  const columns: Column<Customer>[] = [
    { id: 'name', header: 'Name', firstSort: 'asc', alwaysShown: true, cell: (customer) => customer.name },
    { id: 'email', header: 'Email', firstSort: 'asc', cell: (customer) => customer.email ?? '—' },
    { id: 'country', header: 'Country', firstSort: 'asc', cell: (customer) => countryName(customer.country) },
    { id: 'status', header: 'Status', cell: (customer) => <ActiveBadge status={customer.status} /> },
    { id: 'contactName', header: 'Contact Name', cell: (customer) => customer.contactName ?? '—' },
    { id: 'phone', header: 'Phone', cell: (customer) => customer.phone ?? '—' },
    {
      id: 'licenseCount',
      header: 'Licenses',
      align: 'right',
      width: 90,
      cell: (customer) => customer.licenseCount,
    },
    {
      id: 'createdAt',
      header: 'Created',
      firstSort: 'asc',
      cell: (customer) => <RelativeTime value={customer.createdAt} />,
    },
  ];
  const actions = actionsColumn<Customer>((customer) => (
    <RowActions>
      {onEdit && <RowButton onClick={() => onEdit(customer)}>Edit</RowButton>}
      {onPolicy && <RowButton onClick={() => onPolicy(customer)}>Updates</RowButton>}
      {onDelete && (
        <RowButton tone="red" onClick={() => onDelete(customer)}>
          Delete
        </RowButton>
      )}
    </RowActions>
  ));
  const width = onPolicy ? 220 : 140;
  return onEdit || onPolicy || onDelete ? [...columns, { ...actions, width }] : columns;
}
