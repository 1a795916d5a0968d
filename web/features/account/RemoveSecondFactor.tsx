import { Text } from '@mantine/core';
import { useConfirmedChange } from '../../confirmed-change.ts';
import { PasswordForm } from '../../PasswordForm.tsx';
import { useAuth } from '../../session.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { removeSecondFactor } from './queries.ts';
import { aboutAccount } from '../../toast-subjects.ts';

/** Removes the second factor, so that the password alone signs in. */
export default function RemoveSecondFactor({ onClose }: { onClose: () => void }) {
  const { refreshRights } = useAuth();
  const { busy, failure, onConfirm } = useConfirmedChange({
    change: removeSecondFactor,
    done: () => {
      // who manages users is advised to have one
      void refreshRights();
      return { message: 'Second factor removed successfully', subject: aboutAccount };
    },
    onClose,
  });
  return (
    <Dialog title="Remove second factor" onClose={onClose}>
      <PasswordForm
        error={failure}
        otherwise="Failed to remove the second factor"
        onPassword={onConfirm}
        submitLabel="Remove"
        busy={busy}
        onCancel={onClose}
      >
        <Text>From then on your password alone signs you in. Your recovery codes stop working.</Text>
      </PasswordForm>
    </Dialog>
  );
}
