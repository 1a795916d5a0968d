import { countryName } from '../../../contract/countries.ts';
import type { Customer } from '../../../contract/customers.ts';
import { RecordLink } from '../../shell/RecordLink.tsx';
import type { Column } from '../../ui/data-table.ts';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { ActiveBadge } from '../../ui/StatusBadge.tsx';

/** Columns that are not in the spec, hidden until the user shows them. */
export const hiddenAtFirst = { contactName: false, phone: false, licenseCount: false, createdAt: false };

/** Columns of the customer list. Ids of sortable columns are the sort names of the service. */
export const customerColumns: Column<Customer>[] = [
  {
    id: 'name',
    header: 'Name',
    firstSort: 'asc',
    alwaysShown: true,
    width: '30%',
    least: 150,
    cell: ({ customerId, name }) => (
      <RecordLink kind="customer" id={customerId}>
        {name}
      </RecordLink>
    ),
  },
  {
    id: 'email',
    header: 'Email',
    firstSort: 'asc',
    width: '30%',
    least: 150,
    cell: (customer) => customer.email ?? '—',
  },
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
