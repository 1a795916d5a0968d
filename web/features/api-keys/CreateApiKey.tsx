import { TextInput } from '@mantine/core';
import { useDialogForm } from '../../dialog-form.ts';
import { useShownOnce } from '../../kept-work.ts';
import { useRefusedFields } from '../../refused-fields.ts';
import { useAuth } from '../../session.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { toast } from '../../ui/toast.tsx';
import { useChange, useIsLeft } from '../../use-change.ts';
import { byField, checkNew, emptyValues, payloadOf, type Values } from './api-key-form.ts';
import { ApiKeyCreated } from './ApiKeyCreated.tsx';
import { LimitFields, ScopesField, WhitelistField } from './ApiKeyFields.tsx';
import { whyNotScope } from './api-key-labels.ts';
import { createApiKey, type ApiKeyPayload } from './queries.ts';
import { aboutApiKey } from '../../toast-subjects.ts';

/** Creates a key, then shows it once. */
export default function CreateApiKey({ onClose }: { onClose: () => void }) {
  // The response holds the secret: it is not cached after the modal is closed.
  const isLeft = useIsLeft();
  const create = useChange({
    mutationFn: createApiKey,
    gcTime: 0,
    onSuccess: (key) => {
      const message = `API key "${key.name}" was created, but not shown. Revoke it, and create another.`;
      if (isLeft()) void toast({ message, subject: aboutApiKey(key) });
    },
  });
  const made = useShownOnce('new API key made', create.data);
  const isShown = made !== undefined;
  return (
    <Dialog
      title={isShown ? 'API Key Created' : 'Create API Key'}
      size={isShown ? 660 : 480}
      // Closing accidentally must not lose a key that is not shown again, or that is being created.
      held={create.isPending ? 'all' : isShown ? 'slips' : undefined}
      onClose={onClose}
    >
      {made ? (
        <ApiKeyCreated made={made} onDone={onClose} />
      ) : (
        <CreateForm
          busy={create.isPending}
          error={create.error}
          onSubmit={(payload) => create.mutate(payload)}
          onCancel={onClose}
        />
      )}
    </Dialog>
  );
}

function CreateForm(props: {
  busy: boolean;
  error: Error | null;
  onSubmit: (payload: ApiKeyPayload) => void;
  onCancel: () => void;
}) {
  const { permissions } = useAuth();
  const form = useDialogForm<Values>('new API key', {
    initialValues: {
      ...emptyValues,
      scopes: emptyValues.scopes.filter((scope) => whyNotScope(scope, permissions) === null),
    },
    validate: checkNew,
    validateInputOnBlur: ['expiresAt', 'rateLimit'],
  });
  const problem = useRefusedFields(props.error, form, byField);
  return (
    <DialogForm
      onSubmit={form.onSubmit((values) => props.onSubmit(payloadOf(values)))}
      problem={problem}
      submitLabel="Create API Key"
      busy={props.busy}
      onCancel={props.onCancel}
    >
      <TextInput label="Name" required data-autofocus autoComplete="off" {...form.getInputProps('name')} />
      <LimitFields form={form} required />
      <WhitelistField form={form} canLift={false} />
      <ScopesField form={form} already={[]} />
    </DialogForm>
  );
}
