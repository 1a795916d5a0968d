import { licenseRefusal, type License } from '../../../contract/licenses.ts';
import { CopyText } from '../../ui/CopyText.tsx';
import type { Column } from '../../ui/DataTable.tsx';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { RowActions, RowButton } from '../../ui/RowButton.tsx';
import { SeatUsage } from '../activations/index.ts';
import { CustomerCell, ModulesCell, StateBadge, TypeBadge, ValidUntilCell } from './license-cells.tsx';
import classes from './licenses.module.css';
import { utcDate } from '../../ui/time.ts';

/** Columns that are not in the spec, hidden until the user shows them. */
export const hiddenAtFirst = { validFrom: false, createdAt: false };

type LicenseHandlers = {
  onActivations: (license: License) => void;
  /** Opens the dialog of the license, which is read-only where editing is not allowed. */
  onOpen: (license: License) => void;
  onRevoke: (license: License) => void;
  onReactivate: (license: License) => void;
};

type Options = LicenseHandlers & { mayUpdate: boolean; withCustomer: boolean };

/** Columns of the license list. Ids of sortable columns are the sort names of the service. */
export function licenseColumns({ withCustomer, ...actions }: Options): Column<License>[] {
  return [
    {
      accessorKey: 'licenseKey',
      header: 'License Key',
      enableSorting: true,
      enableHiding: false,
      cell: ({ row }) => <CopyText value={row.original.licenseKey} what="license key" />,
    },
    ...(withCustomer ? [customerColumn] : []),
    {
      accessorKey: 'type',
      header: 'Type',
      enableSorting: true,
      cell: ({ row }) => <TypeBadge type={row.original.type} />,
    },
    { accessorKey: 'status', header: 'Status', cell: ({ row }) => <StateBadge license={row.original} /> },
    {
      id: 'activations',
      header: 'Activations',
      enableSorting: true,
      cell: ({ row }) => (
        <SeatUsage used={row.original.currentActivations} max={row.original.maxActivations} />
      ),
    },
    {
      id: 'modules',
      header: 'Modules',
      meta: { width: '22%' },
      cell: ({ row }) => <ModulesCell moduleIds={row.original.moduleIds} />,
    },
    {
      accessorKey: 'validFrom',
      header: 'Valid From',
      cell: ({ row }) => utcDate(row.original.validFrom),
    },
    {
      accessorKey: 'validUntil',
      header: 'Valid Until',
      enableSorting: true,
      cell: ({ row }) => <ValidUntilCell license={row.original} />,
    },
    {
      accessorKey: 'createdAt',
      header: 'Created',
      enableSorting: true,
      cell: ({ row }) => <RelativeTime value={row.original.createdAt} />,
    },
    {
      id: 'actions',
      header: 'Actions',
      enableHiding: false,
      meta: { width: 1, pinned: true },
      cell: ({ row }) => <LicenseActions license={row.original} {...actions} />,
    },
  ];
}

/** Only where the rows are not grouped by it. */
const customerColumn: Column<License> = {
  id: 'customer',
  header: 'Customer',
  enableSorting: true,
  cell: ({ row }) => <CustomerCell customer={row.original.customer} />,
};

function LicenseActions({ license, ...on }: Omit<Options, 'withCustomer'> & { license: License }) {
  return (
    <RowActions>
      <RowButton onClick={() => on.onActivations(license)}>Activations</RowButton>
      <StateActions license={license} {...on} />
    </RowActions>
  );
}

/**
 * Actions on the license; for one whose customer is deleted, the reason why there are none (spec part 1, section 2).
 */
function StateActions({ license, mayUpdate, ...on }: Omit<Options, 'withCustomer'> & { license: License }) {
  const revoked = license.status === 'revoked';
  const refusal = revoked ? licenseRefusal.reactivate(license) : licenseRefusal.revoke(license);
  if (refusal) return <span className={classes.refusal}>{refusal}</span>;
  return (
    <>
      <RowButton onClick={() => on.onOpen(license)}>{mayUpdate && !revoked ? 'Edit' : 'View'}</RowButton>
      {mayUpdate && !revoked && (
        <RowButton tone="red" onClick={() => on.onRevoke(license)}>
          Revoke
        </RowButton>
      )}
      {mayUpdate && revoked && <RowButton onClick={() => on.onReactivate(license)}>Reactivate</RowButton>}
    </>
  );
}
