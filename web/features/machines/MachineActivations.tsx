import { useKept } from '../../kept-work.ts';
import { useAuth } from '../../session.tsx';
import type { Column } from '../../ui/data-table.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { IconLock } from '../../ui/icons.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { momentText } from '../../ui/time.ts';
import {
  activationActions,
  activationBadges,
  Identity,
  LazyDeactivate,
  OfflineBadge,
  tellNotReactivated,
  useReactivate,
} from '../activations/index.ts';
import { EndEnrollment } from './EndEnrollment.tsx';
import { LicenseLink } from '../../shell/RecordLink.tsx';
import type { MachineActivation } from './queries.ts';

const columns: Column<MachineActivation>[] = [
  { id: 'licenseKey', header: 'License Key', cell: (row) => <LicenseLink {...row} /> },
  {
    id: 'status',
    header: 'Status',
    // active green, else red (spec part 2, section 2.6)
    cell: (row) => (
      <>
        <StatusBadge tone={row.status === 'active' ? 'teal' : 'red'}>
          {activationBadges[row.status].word}
        </StatusBadge>
        <OfflineBadge activation={row} />
      </>
    ),
  },
  { id: 'createdAt', header: 'Created', cell: (row) => momentText(row.createdAt) },
  {
    id: 'enrollment',
    header: 'Enrollment',
    cell: (row) =>
      row.enrolledAt ? (
        <div style={{ padding: '5px 0' }}>
          <Identity of={row} />
        </div>
      ) : (
        'None'
      ),
  },
];

/** The licenses of the machine, its seat and its enrollment on each. */
export function MachineActivations(props: { machine: string; activations: MachineActivation[] }) {
  const { can } = useAuth();
  const [toEnd, setToEnd] = useKept<MachineActivation>('open: end enrollment');
  const [toDeactivate, setToDeactivate] = useKept<MachineActivation>('open: deactivate on a machine page');
  const reactivate = useReactivate(tellNotReactivated);
  const refusal = can.updateLicenses ? null : 'You may not update licenses';
  return (
    <div className="bounded">
      <DataTable
        label="License activations"
        columns={columns}
        rows={props.activations}
        rowId={(activation) => activation.activationId}
        rowLabel={(activation) => activation.licenseKey}
        actions={(activation) => [
          ...activationActions(activation, {
            onDeactivate: () => setToDeactivate(activation),
            onReactivate: () => reactivate.mutate(activation),
            isBusy: reactivate.isPending && reactivate.variables.licenseKey === activation.licenseKey,
            refusal,
          }),
          activation.enrolledAt !== null && {
            label: 'End Enrollment',
            key: 'e',
            danger: true,
            inRow: true,
            reason: refusal,
            run: () => setToEnd(activation),
          },
        ]}
        empty={
          can.viewLicenses ? (
            <EmptyState title="No license activations">No license runs on this machine.</EmptyState>
          ) : (
            <EmptyState title="Not shown" icon={<IconLock size={28} stroke={1.25} />}>
              You may not read licenses.
            </EmptyState>
          )
        }
      />
      {toEnd && (
        <EndEnrollment machine={props.machine} activation={toEnd} onClose={() => setToEnd(undefined)} />
      )}
      <LazyDialogs>
        {toDeactivate && (
          <LazyDeactivate
            licenseKey={toDeactivate.licenseKey}
            activation={toDeactivate}
            onClose={() => setToDeactivate(undefined)}
          />
        )}
      </LazyDialogs>
    </div>
  );
}
