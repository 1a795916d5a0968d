import { machinePath } from '../../paths.ts';
import { useConfirmedChange } from '../../confirmed-change.ts';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { endEnrollment, type MachineActivation } from './queries.ts';

/** Ends the enrollment by which a machine proves who it is on a license. */
export function EndEnrollment(props: {
  /** Its display id. */
  machine: string;
  activation: MachineActivation;
  onClose: () => void;
}) {
  const { machine, activation, onClose } = props;
  const confirmed = useConfirmedChange({
    change: () => endEnrollment(activation.activationId),
    done: () => ({
      message: `Enrollment of machine ${machine} ended`,
      subject: { name: machine, to: machinePath(machine) },
    }),
    onClose,
  });
  return (
    <ConfirmDialog
      title="End Enrollment"
      message={
        <>
          End the enrollment of machine <span className="mono">{machine}</span> on license{' '}
          <span className="mono">{activation.licenseKey}</span>?
        </>
      }
      consequences={[
        'Its token is refused from now on, also where a copy of the machine uses it.',
        'The machine keeps its seat, and its program enrolls again at its next check.',
        'Anyone who knows its id and the license key can enroll in its place, with another key pair. To prevent that, deactivate the machine instead.',
      ]}
      confirmLabel="End Enrollment"
      {...confirmed}
    />
  );
}
