import { Button, Group, Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiKey } from '../../../contract/api-keys.ts';
import { fieldErrors, messageOf } from '../../api-error.ts';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { toast } from '../../ui/toast.tsx';
import { byField, checkChanges, patchOf, valuesOf, type Values } from './api-key-form.ts';
import { LimitFields, ScopesField, WhitelistField } from './ApiKeyFields.tsx';
import { updateApiKey, type ApiKeyPatch } from './api-keys.ts';

const statuses = [
  { value: 'active', label: 'Active' },
  { value: 'inactive', label: 'Inactive' },
];

/** Changes a key; what is saved acts on its next call. */
export function EditApiKey({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  // What the person began from: the list goes on refreshing behind the form.
  const [seen] = useState(apiKey);
  const form = useForm<Values>({
    initialValues: valuesOf(seen),
    validate: (values) => checkChanges(values, seen),
  });
  const update = useMutation({
    mutationFn: (patch: ApiKeyPatch) => updateApiKey(seen.id, patch),
    onSuccess: ({ name }) => {
      void toast({ message: `API key "${name}" updated` });
      onClose();
    },
    onError: (error) => form.setErrors(byField(fieldErrors(error))),
  });

  function save(values: Values) {
    const patch = patchOf(values, seen);
    if (Object.keys(patch).length === 0) onClose();
    else update.mutate(patch);
  }

  return (
    <form noValidate onSubmit={form.onSubmit(save)}>
      <Stack gap="md">
        <TextInput
          label="Name"
          data-autofocus
          maxLength={200}
          autoComplete="off"
          {...form.getInputProps('name')}
        />
        <Select label="Status" data={statuses} allowDeselect={false} {...form.getInputProps('status')} />
        <LimitFields form={form} required={false} />
        <WhitelistField form={form} canLift={seen.ipWhitelist.length > 0} />
        <ScopesField form={form} />
        {update.error && Object.keys(fieldErrors(update.error)).length === 0 && (
          <ErrorText>{messageOf(update.error)}</ErrorText>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={update.isPending}>
            Save Changes
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
