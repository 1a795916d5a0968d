import type { License } from '../../../contract/licenses.ts';
import { CopiedLicense } from '../../shell/RecordLink.tsx';
import type { Column } from '../../ui/data-table.ts';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { SeatUsage } from '../activations/index.ts';
import { CustomerCell, ModulesCell, StateBadge, TypeBadge, ValidUntilCell } from './license-cells.tsx';
import { utcDate } from '../../ui/time.ts';

/** Columns that are not in the spec, hidden until the user shows them. */
export const hiddenAtFirst = { validFrom: false, createdAt: false };

/** Columns of the license list. Ids of sortable columns are the sort names of the service. */
export function licenseColumns({ withCustomer }: { withCustomer: boolean }): Column<License>[] {
  return [
    {
      id: 'licenseKey',
      header: 'License Key',
      firstSort: 'asc',
      alwaysShown: true,
      cell: (license) => <CopiedLicense {...license} />,
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
      least: 60,
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
  ];
}

/** Only where the rows are not grouped by it. */
const customerColumn: Column<License> = {
  id: 'customer',
  header: 'Customer',
  firstSort: 'asc',
  width: '18%',
  least: 100,
  cell: (license) => <CustomerCell {...license} />,
};
