import { countryName } from '../../../contract/countries.ts';
import type { Customer } from '../../../contract/customers.ts';
import type { Column } from '../../ui/data-table.ts';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { RowActions, RowButton } from '../../ui/RowButton.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';

/** Columns that are not in the spec, hidden until the user shows them. */
export const hiddenAtFirst = { contactName: false, phone: false, licenseCount: false, createdAt: false };

type Handlers = {
  onEdit: ((customer: Customer) => void) | undefined;
  onDelete: ((customer: Customer) => void) | undefined;
};

/** Columns of the customer list. Ids of sortable columns are the sort names of the service. */
export function customerColumns({ onEdit, onDelete }: Handlers): Column<Customer>[] {
  const columns: Column<Customer>[] = [
    { accessorKey: 'name', header: 'Name', enableSorting: true, enableHiding: false },
    {
      accessorKey: 'email',
      header: 'Email',
      enableSorting: true,
      cell: ({ row }) => row.original.email ?? '—',
    },
    {
      accessorKey: 'country',
      header: 'Country',
      enableSorting: true,
      cell: ({ row }) => countryName(row.original.country),
    },
    {
      accessorKey: 'status',
      header: 'Status',
      cell: ({ row }) => <CustomerStatusBadge status={row.original.status} />,
    },
    {
      accessorKey: 'contactName',
      header: 'Contact Name',
      cell: ({ row }) => row.original.contactName ?? '—',
    },
    { accessorKey: 'phone', header: 'Phone', cell: ({ row }) => row.original.phone ?? '—' },
    { accessorKey: 'licenseCount', header: 'Licenses', meta: { align: 'right', width: 90 } },
    {
      accessorKey: 'createdAt',
      header: 'Created',
      enableSorting: true,
      cell: ({ row }) => <RelativeTime value={row.original.createdAt} />,
    },
  ];
  if (onEdit || onDelete) columns.push(actionsColumn({ onEdit, onDelete }));
  return columns;
}

function CustomerStatusBadge({ status }: Pick<Customer, 'status'>) {
  return (
    <StatusBadge tone={status === 'active' ? 'teal' : 'red'}>
      {status === 'active' ? 'Active' : 'Inactive'}
    </StatusBadge>
  );
}

const actionsColumn = ({ onEdit, onDelete }: Handlers): Column<Customer> => ({
  id: 'actions',
  header: 'Actions',
  enableHiding: false,
  meta: { width: 140, pinned: true },
  cell: ({ row }) => (
    <RowActions>
      {onEdit && <RowButton onClick={() => onEdit(row.original)}>Edit</RowButton>}
      {onDelete && (
        <RowButton tone="red" onClick={() => onDelete(row.original)}>
          Delete
        </RowButton>
      )}
    </RowActions>
  ),
});
