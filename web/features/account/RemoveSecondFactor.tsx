import { Stack, Text } from '@mantine/core';
import type { FormEvent } from 'react';
import { sentenceOf } from '../../api-error.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { FormActions } from '../../ui/FormActions.tsx';
import { formText } from '../../ui/form-text.ts';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { removeSecondFactor } from './queries.ts';
import { PasswordField } from './PasswordField.tsx';

/** Removes the second factor, so that the password alone signs in. */
export default function RemoveSecondFactor({ onClose }: { onClose: () => void }) {
  const remove = useChange({
    mutationFn: removeSecondFactor,
    onSuccess: () => {
      void toast({ message: 'Second factor removed successfully' });
      onClose();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    remove.mutate(formText(new FormData(event.currentTarget), 'currentPassword'));
  };
  return (
    <Dialog title="Remove second factor" onClose={onClose}>
      <form noValidate onSubmit={submit}>
        <Stack gap="md">
          <Text>From then on your password alone signs you in. Your recovery codes stop working.</Text>
          <PasswordField label="Current Password" name="currentPassword" focused />
          <FormActions
            problem={
              remove.error ? sentenceOf(remove.error, 'Failed to remove the second factor') : undefined
            }
            submitLabel="Remove"
            busy={remove.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
