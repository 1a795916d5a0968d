import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ApiKey } from '../../../contract/api-keys.ts';
import { apiKeyLabels } from '../../field-labels.ts';
import { messageOf } from '../../api-error.ts';
import { useDialogForm } from '../../dialog-form.ts';
import { useEdit } from '../../edit-conflict.ts';
import { useSeen } from '../../kept-work.ts';
import { useRefusedFields } from '../../refused-fields.ts';
import { ConflictDialog } from '../../ui/ConflictDialog.tsx';
import { ConsequenceList } from '../../ui/Consequences.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { toast } from '../../ui/toast.tsx';
import { Select } from '../../ui/Select.tsx';
import { conflictRows } from './api-key-conflict.ts';
import { byField, checkChanges, patchOf, valuesOf, type Values } from './api-key-form.ts';
import { refusedSentence } from './api-key-labels.ts';
import { LimitFields, ScopesField, staysIfEmpty, WhitelistField } from './ApiKeyFields.tsx';
import { apiKeyImpactQuery, apiKeyQuery, updateApiKey, type ApiKeyPatch } from './queries.ts';
import { aboutApiKey } from '../../toast-subjects.ts';

const statuses = [
  { value: 'active', label: 'Active' },
  { value: 'inactive', label: 'Inactive' },
];

/** Edits a key; changes apply from its next call. */
export function EditApiKey({ id, onClose }: { id: string; onClose: () => void }) {
  const apiKey = useQuery(apiKeyQuery(id));
  if (apiKey.isLoadingError)
    return <ErrorText>{`Error loading API keys: ${messageOf(apiKey.error)}`}</ErrorText>;
  return apiKey.data ? <Edit apiKey={apiKey.data} onClose={onClose} /> : <Loading />;
}

/** Keeps the focus until the form replaces it. */
export const Loading = () => (
  <p role="status" tabIndex={-1} data-autofocus>
    Loading…
  </p>
);

function Edit({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const [seen] = useSeen(apiKey.id, apiKey);
  const edit = useEdit({
    subject: aboutApiKey(seen),
    save: (patch: ApiKeyPatch, { updatedAt }) => updateApiKey(seen.id, { ...patch, updatedAt }),
    onSaved: ({ name }) => {
      void toast({ message: `API key "${name}" updated`, subject: aboutApiKey({ id: seen.id, name }) });
      onClose();
    },
    onGivenUp: onClose,
  });
  const form = useDialogForm<Values>(seen.id, {
    initialValues: valuesOf(seen),
    validate: (values) => checkChanges(values, seen),
    validateInputOnBlur: ['expiresAt', 'rateLimit'],
  });
  const problem = useRefusedFields(edit.error, form, byField);

  function save(values: Values) {
    const patch = patchOf(values, seen);
    if (Object.keys(patch).length === 0) onClose();
    else edit.submit(patch, seen);
  }

  return (
    <>
      <DialogForm
        onSubmit={form.onSubmit(save)}
        problem={problem}
        submitLabel="Save Changes"
        busy={edit.busy}
        onCancel={onClose}
      >
        <TextInput
          label={apiKeyLabels.name}
          description={staysIfEmpty}
          inputWrapperOrder={['label', 'input', 'error', 'description']}
          data-autofocus
          autoComplete="off"
          {...form.getInputProps('name')}
        />
        <Select
          label={apiKeyLabels.isActive}
          data={statuses}
          allowDeselect={false}
          {...form.getInputProps('status')}
        />
        {seen.isActive && form.values.status === 'inactive' && <InactiveConsequences id={seen.id} />}
        <LimitFields form={form} required={false} />
        <WhitelistField form={form} canLift={seen.ipWhitelist.length > 0} />
        <ScopesField form={form} already={seen.scopes} />
      </DialogForm>
      <ConflictDialog edit={edit} rowsOf={conflictRows} />
    </>
  );
}

/** Shows whom setting the key to inactive affects. */
function InactiveConsequences({ id }: { id: string }) {
  const consequences = useQuery({
    ...apiKeyImpactQuery(id),
    select: (impact) => [refusedSentence(impact), 'The key can be set to active again.'],
  });
  return <ConsequenceList of={consequences} />;
}
