import { countryName } from '../../../contract/countries.ts';
import type { Customer } from '../../../contract/customers.ts';
import type { Column } from '../../ui/data-table.ts';
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
  { accessorKey: 'name', header: 'Name' },
  { accessorKey: 'email', header: 'Email', cell: ({ row }) => row.original.email ?? '—' },
  { accessorKey: 'country', header: 'Country', cell: ({ row }) => countryName(row.original.country) },
  { accessorKey: 'phone', header: 'Phone', cell: ({ row }) => row.original.phone },
  { id: 'status', header: 'Status', cell: () => <StatusBadge tone="red">Deleted</StatusBadge> },
  {
    accessorKey: 'deletedAt',
    header: 'Deleted',
    cell: ({ row }) => <RelativeTime value={row.original.deletedAt} />,
  },
  {
    id: 'actions',
    header: 'Actions',
    meta: { width: 1, pinned: true },
    cell: ({ row }) => <TrashActions customer={row.original} {...handlers} />,
  },
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
