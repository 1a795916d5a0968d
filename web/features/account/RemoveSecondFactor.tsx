import { PasswordInput, Text } from '@mantine/core';
import { sentenceOf } from '../../api-error.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { submitTexts } from '../../ui/form-text.ts';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { removeSecondFactor } from './queries.ts';
import { aboutAccount } from '../../toast-subjects.ts';

/** Removes the second factor, so that the password alone signs in. */
export default function RemoveSecondFactor({ onClose }: { onClose: () => void }) {
  const remove = useChange({
    mutationFn: removeSecondFactor,
    onSuccess: () => {
      void toast({ message: 'Second factor removed successfully', subject: aboutAccount });
      onClose();
    },
  });
  return (
    <Dialog title="Remove second factor" onClose={onClose}>
      <DialogForm
        onSubmit={submitTexts((textOf) => remove.mutate(textOf('currentPassword')))}
        problem={remove.error ? sentenceOf(remove.error, 'Failed to remove the second factor') : undefined}
        submitLabel="Remove"
        busy={remove.isPending}
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
