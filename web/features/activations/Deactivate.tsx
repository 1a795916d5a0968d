import { Checkbox } from '@mantine/core';
import { useRef, useState } from 'react';
import type { ListedActivation } from '../../../contract/activations.ts';
import { useConfirmedChange } from '../../confirmed-change.ts';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { fullTime, utcDate } from '../../ui/time.ts';
import { deactivateMachine } from './queries.ts';
import { tellNotReactivated, useReactivate, useShowChange } from './use-seat-changes.ts';
import { aboutSeat } from '../../toast-subjects.ts';

type Props = { licenseKey: string; activation: ListedActivation; onClose: () => void };

/** Takes the seat of a machine. One that runs offline is not told so: its seat is taken by force. */
export default function Deactivate(props: Props) {
  const until = props.activation.offlineUntil;
  return until ? <DeactivateOffline {...props} until={until} /> : <DeactivateOnline {...props} />;
}

/** The machine with the host name that its hospital calls it by. */
const Named = ({ machineId, hostname }: ListedActivation) => (
  <>
    <span className="mono">{machineId}</span>
    {hostname && ` (${hostname})`}
  </>
);

function DeactivateOnline({ licenseKey, activation, onClose }: Props) {
  const show = useShowChange();
  // A separate notification: by then the dialog may be closed.
  const undo = useReactivate(tellNotReactivated);
  const confirmed = useConfirmedChange({
    change: () => deactivateMachine(activation),
    done: (changed) => {
      show(licenseKey, changed);
      return {
        message: `Machine ${changed.machineId} deactivated`,
        subject: aboutSeat(licenseKey, changed.machineId),
        undo: () => undo.mutate({ licenseKey, machineId: changed.machineId }),
      };
    },
    onClose,
  });
  return (
    <ConfirmDialog
      title="Deactivate Machine"
      message={
        <>
          Are you sure you want to deactivate machine <Named {...activation} />?
        </>
      }
      consequences={[
        'This machine is refused from its next check until it is reactivated.',
        activation.lastCheckedAt
          ? `It last checked ${fullTime(activation.lastCheckedAt)}.`
          : 'It has not checked since it took its seat.',
        `Its seat on license ${licenseKey} becomes free for another machine.`,
        ...(activation.enrolledAt
          ? ['Its machine token stops working. After it is reactivated, it needs to enroll again.']
          : []),
      ]}
      confirmLabel="Deactivate"
      {...confirmed}
    />
  );
}

function DeactivateOffline({ licenseKey, activation, until, onClose }: Props & { until: string }) {
  const accepted = useRef<HTMLInputElement>(null);
  const [missing, setMissing] = useState(false);
  const show = useShowChange();
  const confirmed = useConfirmedChange({
    change: () => deactivateMachine({ ...activation, force: true }),
    done: (changed) => {
      show(licenseKey, changed);
      return {
        message: `Machine ${changed.machineId} deactivated by force`,
        subject: aboutSeat(licenseKey, changed.machineId),
      };
    },
    onClose,
  });
  const date = utcDate(until);
  return (
    <ConfirmDialog
      title="Deactivate Machine"
      message={
        <>
          Machine <Named {...activation} /> has a license file. Deactivate it by force?
        </>
      }
      consequences={[
        `The license file cannot be taken back: the machine may continue to run until ${date}.`,
        `Its seat on license ${licenseKey} becomes free for another machine, so the seat may be used twice until then.`,
        'A return receipt from the machine frees the seat without that.',
      ]}
      confirmLabel="Deactivate by Force"
      {...confirmed}
      onConfirm={() => {
        const isAccepted = accepted.current?.checked ?? false;
        setMissing(!isAccepted);
        if (isAccepted) confirmed.onConfirm();
      }}
    >
      <Checkbox
        label={`The seat may be used twice until ${date}`}
        ref={accepted}
        error={missing && 'Accept this to deactivate the machine'}
        onChange={() => setMissing(false)}
        data-autofocus
      />
    </ConfirmDialog>
  );
}
