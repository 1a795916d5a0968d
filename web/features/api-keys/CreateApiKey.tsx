import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useRefusedFields } from '../../refused-fields.ts';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { byField, checkNew, emptyValues, payloadOf, type Values } from './api-key-form.ts';
import { ApiKeyCreated } from './ApiKeyCreated.tsx';
import { LimitFields, ScopesField, WhitelistField } from './ApiKeyFields.tsx';
import { createApiKey, type ApiKeyPayload } from './api-keys.ts';

/** Creates a key, and then shows it, once. */
export default function CreateApiKey({ onClose }: { onClose: () => void }) {
  // The answer holds the secret: nothing keeps it once the modal is gone.
  const create = useMutation({ mutationFn: createApiKey, gcTime: 0 });
  const isShown = create.data !== undefined;
  // A slip must not lose a key that is not shown again, or that is being made.
  const isHeld = isShown || create.isPending;
  return (
    <Modal
      opened
      onClose={onClose}
      title={isShown ? 'API Key Created' : 'Create API Key'}
      size={isShown ? 660 : 480}
      closeOnClickOutside={!isHeld}
      closeOnEscape={!isHeld}
      withCloseButton={!create.isPending}
    >
      {create.data ? (
        <ApiKeyCreated made={create.data} onDone={onClose} />
      ) : (
        <CreateForm
          busy={create.isPending}
          error={create.error}
          onSubmit={(payload) => create.mutate(payload)}
          onCancel={onClose}
        />
      )}
    </Modal>
  );
}

function CreateForm(props: {
  busy: boolean;
  error: Error | null;
  onSubmit: (payload: ApiKeyPayload) => void;
  onCancel: () => void;
}) {
  const form = useForm<Values>({ initialValues: emptyValues, validate: checkNew });
  const problem = useRefusedFields(props.error, form, byField);
  return (
    <form noValidate onSubmit={form.onSubmit((values) => props.onSubmit(payloadOf(values)))}>
      <Stack gap="md">
        <TextInput
          label="Name"
          required
          data-autofocus
          maxLength={200}
          autoComplete="off"
          {...form.getInputProps('name')}
        />
        <LimitFields form={form} required />
        <WhitelistField form={form} canLift={false} />
        <ScopesField form={form} />
        {problem && <ErrorText>{problem}</ErrorText>}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" disabled={props.busy} onClick={props.onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={props.busy}>
            Create API Key
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
