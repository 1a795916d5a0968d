import { countryName } from '../../../contract/countries.ts';
import type { Customer } from '../../../contract/customers.ts';
import { actionsColumn, type Column } from '../../ui/data-table.ts';
import { DisabledReason } from '../../ui/DisabledReason.tsx';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { RowActions, RowButton } from '../../ui/RowButton.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';

type Handlers = {
  onReactivate: (customer: Customer) => void;
  onDelete: (customer: Customer) => void;
  whyNotReactivate: string | null;
  whyNotDelete: string | null;
};

export const trashColumns = (handlers: Handlers): Column<Customer>[] => [
  { id: 'name', header: 'Name', cell: (customer) => customer.name },
  { id: 'email', header: 'Email', cell: (customer) => customer.email ?? '—' },
  { id: 'country', header: 'Country', cell: (customer) => countryName(customer.country) },
  { id: 'phone', header: 'Phone', cell: (customer) => customer.phone },
  { id: 'status', header: 'Status', cell: () => <StatusBadge tone="red">Deleted</StatusBadge> },
  { id: 'deletedAt', header: 'Deleted', cell: (customer) => <RelativeTime value={customer.deletedAt} /> },
  actionsColumn((customer) => <TrashActions customer={customer} {...handlers} />),
];

function TrashActions({ customer, ...handlers }: Handlers & { customer: Customer }) {
  return (
    <RowActions>
      <DisabledReason reason={handlers.whyNotReactivate}>
        <RowButton onClick={() => handlers.onReactivate(customer)}>Reactivate</RowButton>
      </DisabledReason>
      <DisabledReason reason={handlers.whyNotDelete}>
        <RowButton tone="red" onClick={() => handlers.onDelete(customer)}>
          Permanently Delete
        </RowButton>
      </DisabledReason>
    </RowActions>
  );
}
