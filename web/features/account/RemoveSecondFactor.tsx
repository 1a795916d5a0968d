import { PasswordInput, Text } from '@mantine/core';
import { sentenceOf } from '../../api-error.ts';
import { useConfirmedChange } from '../../confirmed-change.ts';
import { useAuth } from '../../session.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { submitTexts } from '../../ui/form-text.ts';
import { removeSecondFactor } from './queries.ts';
import { aboutAccount } from '../../toast-subjects.ts';

/** Removes the second factor, so that the password alone signs in. */
export default function RemoveSecondFactor({ onClose }: { onClose: () => void }) {
  const { refreshRights } = useAuth();
  const { busy, error, onConfirm } = useConfirmedChange({
    change: removeSecondFactor,
    done: () => {
      // who manages users is advised to have one
      void refreshRights();
      return { message: 'Second factor removed successfully', subject: aboutAccount };
    },
    problemOf: (problem) => sentenceOf(problem, 'Failed to remove the second factor'),
    onClose,
  });
  return (
    <Dialog title="Remove second factor" onClose={onClose}>
      <DialogForm
        onSubmit={submitTexts((textOf) => onConfirm(textOf('currentPassword')))}
        problem={error}
        submitLabel="Remove"
        busy={busy}
        onCancel={onClose}
      >
        <Text>From then on your password alone signs you in. Your recovery codes stop working.</Text>
        <PasswordInput
          label="Current Password"
          name="currentPassword"
          autoComplete="current-password"
          data-autofocus
        />
      </DialogForm>
    </Dialog>
  );
}
