import { countryName } from '../../../contract/countries.ts';
import type { Customer } from '../../../contract/customers.ts';
import { RecordLink } from '../../shell/RecordLink.tsx';
import type { Column } from '../../ui/data-table.ts';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import type { RowActionList } from '../../ui/row-actions.ts';
import { StatusBadge } from '../../ui/StatusBadge.tsx';

export const trashColumns: Column<Customer>[] = [
  {
    id: 'name',
    header: 'Name',
    width: '26%',
    least: 128,
    cell: ({ customerId, name }) => (
      <RecordLink kind="customer" id={customerId}>
        {name}
      </RecordLink>
    ),
  },
  { id: 'email', header: 'Email', width: '26%', least: 128, cell: (customer) => customer.email ?? '—' },
  { id: 'country', header: 'Country', cell: (customer) => countryName(customer.country) },
  { id: 'phone', header: 'Phone', cell: (customer) => customer.phone },
  { id: 'status', header: 'Status', cell: () => <StatusBadge tone="red">Deleted</StatusBadge> },
  { id: 'deletedAt', header: 'Deleted', cell: (customer) => <RelativeTime value={customer.deletedAt} /> },
];

type Handlers = {
  onReactivate: (customer: Customer) => void;
  onDelete: (customer: Customer) => void;
  whyNotReactivate: string | null;
  whyNotDelete: string | null;
};

export const trashActions = (customer: Customer, on: Handlers): RowActionList => [
  {
    label: 'Reactivate',
    key: 'r',
    inRow: true,
    reason: on.whyNotReactivate,
    run: () => on.onReactivate(customer),
  },
  {
    label: 'Permanently Delete',
    key: 'd',
    danger: true,
    inRow: true,
    reason: on.whyNotDelete,
    run: () => on.onDelete(customer),
  },
];
