import type { MachineStanding } from '../../../contract/machine-standing.ts';
import { LicenseLink, MachineLink, RecordLink, VersionLink } from '../../shell/RecordLink.tsx';
import type { Column } from '../../ui/data-table.ts';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { platformText } from '../../platform-text.ts';
import classes from './machines.module.css';
import { reasonOf, stateLabels } from './state-labels.ts';

/** A row is a machine, with its best license. */
export const machineColumns: Column<MachineStanding>[] = [
  {
    id: 'hostname',
    header: 'Host Name',
    alwaysShown: true,
    cell: (row) =>
      row.hostname === null ? (
        <span className="dimmed">Unknown</span>
      ) : (
        <RecordLink kind="machine" id={row.displayId}>
          {row.hostname}
        </RecordLink>
      ),
  },
  { id: 'machine', header: 'Machine', cell: (row) => <MachineLink displayId={row.displayId} /> },
  {
    id: 'customer',
    header: 'Customer',
    width: '26%',
    least: 150,
    cell: (row) =>
      row.customer && (
        <RecordLink kind="customer" id={row.customer.customerId}>
          {row.customer.name}
        </RecordLink>
      ),
  },
  {
    id: 'license',
    header: 'License',
    cell: (row) => row.license && <LicenseLink {...row.license} />,
  },
  { id: 'version', header: 'Version', least: 84, cell: (row) => <VersionLink {...row} /> },
  { id: 'platform', header: 'Platform', cell: (row) => platformText(row.platform, row.architecture) },
  {
    id: 'lastSeen',
    header: 'Last Seen',
    firstSort: 'desc',
    cell: (row) => <RelativeTime value={row.lastSeen} />,
  },
  { id: 'state', header: 'State', cell: (row) => <State of={row} /> },
];

/** The state as a badge, and why it is refused. */
export function State({ of: standing }: { of: MachineStanding }) {
  if (!standing.state) return null;
  const { word, tone } = stateLabels[standing.state];
  const reason = reasonOf(standing);
  return (
    <span className={classes.state}>
      <StatusBadge tone={tone}>{word}</StatusBadge>
      {reason && <span className="dimmed">{reason}</span>}
    </span>
  );
}
