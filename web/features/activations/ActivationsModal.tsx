import { Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ListedActivation } from '../../../contract/activations.ts';
import type { License } from '../../../contract/licenses.ts';
import { isUnanswered, messageOf } from '../../api-error.ts';
import { Loaded } from '../../LoadError.tsx';
import { useKept } from '../../kept-work.ts';
import { useAuth } from '../../session.tsx';
import { CopiedLicense, RecordLink } from '../../shell/RecordLink.tsx';
import { AsOf } from '../../ui/AsOf.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { IconAlertTriangle } from '../../ui/icons.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { ToneAlert } from '../../ui/ToneAlert.tsx';
import { activationsQuery } from './queries.ts';
import Deactivate from './Deactivate.tsx';
import { OfflineActions } from './OfflineActions.tsx';
import { useReactivate } from './use-seat-changes.ts';
import { activationActions } from './activation-actions.ts';
import { activationColumns } from './activation-columns.tsx';
import { SeatUsage } from './SeatUsage.tsx';
import classes from './ActivationsModal.module.css';

type Props = {
  licenseKey: string;
  /** Undefined while it is unknown. */
  license: License | undefined;
  onClose: () => void;
};

/** The machines of a license (spec part 1, section 2). Anyone who sees licenses may open it; its buttons need more. */
export default function ActivationsModal({ licenseKey, license, onClose }: Props) {
  const maxActivations = license?.maxActivations;
  const list = useQuery(activationsQuery(licenseKey));
  const used = list.data?.data.filter((activation) => activation.status === 'active').length;
  const isUsageKnown = used !== undefined && maxActivations !== undefined;
  const selfReleases = list.data?.meta.selfReleases;
  return (
    <Dialog title="License Activations" focusTitle subject={licenseKey} size={900} onClose={onClose}>
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Group gap="xs" miw={0}>
            <CopiedLicense licenseKey={licenseKey} {...license} />
            {/* One line, also on a phone, so that it may come late. */}
            <Text c="dimmed" className={`ellipsis ${classes.customer}`}>
              {license?.customer ? (
                <RecordLink kind="customer" id={license.customerId} inherit>
                  {license.customer.name}
                </RecordLink>
              ) : (
                '\u00a0'
              )}
            </Text>
          </Group>
          <Group gap="md">
            {/* Hidden while it is unknown, so that the layout below does not shift. */}
            <span style={{ visibility: isUsageKnown ? undefined : 'hidden' }}>
              <SeatUsage used={used ?? 0} max={maxActivations ?? 1} />
            </span>
            {selfReleases && selfReleases.today > 0 && (
              <Text c="dimmed" title="Seats that machines released since midnight UTC">
                Given back today: {selfReleases.today} of {selfReleases.atMost}
              </Text>
            )}
            <AsOf queries={[list]} />
          </Group>
        </Group>
        <Loaded
          query={list}
          title={`Error loading activations: ${messageOf(list.error)}`}
          message=""
          record="license"
        >
          <Machines licenseKey={licenseKey} rows={list.data?.data} />
        </Loaded>
        {list.data && <OfflineActions license={license} graceDays={list.data.meta.offlineGraceDays} />}
      </Stack>
    </Dialog>
  );
}

function Machines({ licenseKey, rows }: { licenseKey: string; rows: ListedActivation[] | undefined }) {
  const { can } = useAuth();
  const [toDeactivate, setToDeactivate] = useKept<ListedActivation>('open: deactivate machine');
  const reactivate = useReactivate();
  return (
    <>
      {reactivate.error && <Refusal error={reactivate.error} onClose={reactivate.reset} />}
      <div className={`bounded ${classes.table}`}>
        <DataTable
          label="Activations"
          columns={activationColumns}
          rows={rows}
          rowId={(activation) => activation.activationId}
          rowLabel={(activation) => activation.machineId}
          actions={(activation) =>
            activationActions(activation, {
              onDeactivate: setToDeactivate,
              onReactivate: ({ machineId }) => reactivate.mutate({ licenseKey, machineId }),
              isBusy: reactivate.isPending && reactivate.variables.machineId === activation.machineId,
              refusal: can.updateLicenses ? null : 'You may not update licenses',
            })
          }
          empty={<EmptyState>No activations found for this license.</EmptyState>}
        />
      </div>
      {toDeactivate && (
        <Deactivate
          licenseKey={licenseKey}
          activation={toDeactivate}
          onClose={() => setToDeactivate(undefined)}
        />
      )}
    </>
  );
}

function Refusal({ error, onClose }: { error: Error; onClose: () => void }) {
  return (
    <ToneAlert
      tone="red"
      title={isUnanswered(error) ? undefined : 'The machine was not reactivated'}
      icon={<IconAlertTriangle size={18} stroke={2} />}
      withCloseButton
      closeButtonLabel="Dismiss"
      onClose={onClose}
    >
      {messageOf(error)}
    </ToneAlert>
  );
}
