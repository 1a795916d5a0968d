import { licenseRefusal, type License } from '../../../contract/licenses.ts';
import { CopyText } from '../../ui/CopyText.tsx';
import { actionsColumn, type Column } from '../../ui/data-table.ts';
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
      id: 'licenseKey',
      header: 'License Key',
      firstSort: 'asc',
      alwaysShown: true,
      cell: (license) => <CopyText value={license.licenseKey} what="license key" />,
    },
    ...(withCustomer ? [customerColumn] : []),
    { id: 'type', header: 'Type', firstSort: 'asc', cell: (license) => <TypeBadge type={license.type} /> },
    { id: 'status', header: 'Status', cell: (license) => <StateBadge license={license} /> },
    {
      id: 'activations',
      header: 'Activations',
      firstSort: 'desc',
      cell: (license) => <SeatUsage used={license.currentActivations} max={license.maxActivations} />,
    },
    {
      id: 'modules',
      header: 'Modules',
      width: '22%',
      cell: (license) => <ModulesCell moduleIds={license.moduleIds} />,
    },
    { id: 'validFrom', header: 'Valid From', cell: (license) => utcDate(license.validFrom) },
    {
      id: 'validUntil',
      header: 'Valid Until',
      firstSort: 'asc',
      cell: (license) => <ValidUntilCell license={license} />,
    },
    {
      id: 'createdAt',
      header: 'Created',
      firstSort: 'asc',
      cell: (license) => <RelativeTime value={license.createdAt} />,
    },
    actionsColumn((license) => <LicenseActions license={license} {...actions} />),
  ];
}

/** Only where the rows are not grouped by it. */
const customerColumn: Column<License> = {
  id: 'customer',
  header: 'Customer',
  firstSort: 'asc',
  cell: (license) => <CustomerCell customer={license.customer} />,
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
