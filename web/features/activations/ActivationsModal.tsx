import { Alert, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Activation } from '../../../contract/activations.ts';
import { messageOf } from '../../api-error.ts';
import { useConfirmedChange } from '../../confirmed-change.ts';
import { useKept } from '../../kept-work.ts';
import { useAuth } from '../../session.tsx';
import { AsOf } from '../../ui/AsOf.tsx';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { CopyText } from '../../ui/CopyText.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { fullTime } from '../../ui/time.ts';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { activationsQuery, deactivateMachine, reactivateMachine } from './queries.ts';
import { activationColumns } from './activation-columns.tsx';
import { SeatUsage } from './SeatUsage.tsx';
import classes from './ActivationsModal.module.css';
import { classNames } from '../../ui/class-names.ts';

type Props = {
  licenseKey: string;
  /** Undefined while it is unknown. */
  maxActivations: number | undefined;
  customerName: string | undefined;
  onClose: () => void;
};

/** The machines of a license (spec part 1, section 2). Anyone who sees licenses may open it; its buttons need more. */
export default function ActivationsModal({ licenseKey, maxActivations, customerName, onClose }: Props) {
  const list = useQuery(activationsQuery(licenseKey));
  const used = list.data?.data.filter((activation) => activation.status === 'active').length;
  const isUsageKnown = used !== undefined && maxActivations !== undefined;
  const selfReleases = list.data?.meta.selfReleases;
  return (
    <Dialog title="License Activations" focusTitle subject={licenseKey} size={900} onClose={onClose}>
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Group gap="xs">
            <CopyText value={licenseKey} what="license key" />
            <Text c="dimmed" className={classes.customer}>
              {customerName ?? '\u00a0'}
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
        {list.isLoadingError ? (
          <ErrorState
            title={`Error loading activations: ${messageOf(list.error)}`}
            onRetry={() => void list.refetch()}
          />
        ) : (
          <Machines licenseKey={licenseKey} rows={list.data?.data} />
        )}
      </Stack>
    </Dialog>
  );
}

function Machines({ licenseKey, rows }: { licenseKey: string; rows: Activation[] | undefined }) {
  const { can } = useAuth();
  const [toDeactivate, setToDeactivate] = useKept<Activation>('open: deactivate machine');
  const reactivate = useReactivate(licenseKey);
  const refused = reactivate.error ? messageOf(reactivate.error) : undefined;
  return (
    <>
      {refused && <Refusal message={refused} onClose={reactivate.reset} />}
      <div className={classes.table}>
        <DataTable
          label="Activations"
          columns={activationColumns({
            onDeactivate: setToDeactivate,
            onReactivate: (activation) => reactivate.mutate(activation.machineId),
            busy: reactivate.isPending ? reactivate.variables : undefined,
            refusal: can.updateLicenses ? null : 'You may not update licenses',
          })}
          rows={rows}
          rowId={(activation) => activation.activationId}
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

function Refusal({ message, onClose }: { message: string; onClose: () => void }) {
  return (
    <Alert
      role="alert"
      color="red"
      variant="light"
      title="The machine was not reactivated"
      icon={<IconAlertTriangle size={18} />}
      withCloseButton
      closeButtonLabel="Dismiss"
      onClose={onClose}
      classNames={classNames({
        root: classes.refusal,
        title: classes.refusalText,
        message: classes.refusalText,
        icon: classes.refusalText,
      })}
    >
      {message}
    </Alert>
  );
}

/** Updates the list immediately from the response, and also refetches it. */
function useShowChange(licenseKey: string) {
  const queryClient = useQueryClient();
  return (changed: Pick<Activation, 'activationId'> & Partial<Activation>) =>
    queryClient.setQueryData(
      activationsQuery(licenseKey).queryKey,
      (list) =>
        list && {
          ...list,
          data: list.data.map((row) =>
            row.activationId === changed.activationId ? { ...row, ...changed } : row,
          ),
        },
    );
}

function useReactivate(licenseKey: string, onFailure?: (error: Error) => void) {
  const show = useShowChange(licenseKey);
  const queryClient = useQueryClient();
  return useChange({
    mutationFn: (machineId: string) => reactivateMachine(licenseKey, machineId),
    onSuccess: ({ activation, machineId }) => {
      if (activation) show(activation);
      void toast({ message: `Machine ${machineId} reactivated` });
    },
    // A refusal means that the list is out of date, or that another machine took the seat first.
    onError: (error) => {
      onFailure?.(error);
      return queryClient.invalidateQueries();
    },
  });
}

function Deactivate(props: { licenseKey: string; activation: Activation; onClose: () => void }) {
  const { activation } = props;
  const show = useShowChange(props.licenseKey);
  // A separate notification: by then the dialog may be closed.
  const undo = useReactivate(
    props.licenseKey,
    (error) =>
      void toast({
        message: `Machine ${activation.machineId} was not reactivated: ${messageOf(error)}`,
        tone: 'red',
      }),
  );
  const confirmed = useConfirmedChange({
    change: () => deactivateMachine(activation),
    done: (changed) => {
      show(changed);
      return {
        message: `Machine ${changed.machineId} deactivated`,
        undo: () => undo.mutate(changed.machineId),
      };
    },
    onClose: props.onClose,
  });
  return (
    <ConfirmDialog
      title="Deactivate Machine"
      message={
        <>
          Are you sure you want to deactivate machine <span className="mono">{activation.machineId}</span>?
        </>
      }
      consequences={[
        'This machine is refused from its next check until it is reactivated.',
        activation.lastCheckedAt
          ? `It last checked ${fullTime(activation.lastCheckedAt)}.`
          : 'It has not checked since it took its seat.',
        'Its seat becomes free for another machine.',
      ]}
      confirmLabel="Deactivate"
      {...confirmed}
    />
  );
}
