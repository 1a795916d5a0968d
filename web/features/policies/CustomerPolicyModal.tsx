import { Button, Group, Text, TextInput } from '@mantine/core';
import { schemaResolver } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { customerPolicyInput, type CustomerPolicy } from '../../../contract/policies.ts';
import { policyLabels } from '../../field-labels.ts';
import { useDialogForm } from '../../dialog-form.ts';
import { useEdit } from '../../edit-conflict.ts';
import { useSeen } from '../../kept-work.ts';
import { Loaded } from '../../LoadError.tsx';
import { useRefusedFields } from '../../refused-fields.ts';
import { ConflictDialog } from '../../ui/ConflictDialog.tsx';
import { Dialog, useDialogSubject, useLeaveTo } from '../../ui/Dialog.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { FormSkeleton } from '../../ui/FormSkeleton.tsx';
import { toast } from '../../ui/toast.tsx';
import {
  atPolicyFields,
  conflictRows,
  policyPayload,
  tagsOf,
  typedFields,
  valuesOf,
  wholePolicy,
  withDayProblem,
  type PolicyValues,
} from './policy-form.ts';
import { PolicyFields } from './PolicyFields.tsx';
import { PolicyImpact } from './PolicyImpact.tsx';
import {
  customerImpactQuery,
  customerPolicyQuery,
  saveCustomerPolicy,
  type CustomerBody,
} from './queries.ts';
import { aboutCustomer } from '../../toast-subjects.ts';

type Props = { id: string; onClose: () => void; onTag: (tag: string) => void };

/** The tags and the update policy of a customer. */
export default function CustomerPolicyModal({ id, onClose, onTag }: Props) {
  const policy = useQuery(customerPolicyQuery(id));
  return (
    <Dialog title="Update Policy" onClose={onClose}>
      <Loaded query={policy} title="Error loading update policy" record="customer">
        {policy.data ? (
          <PolicyForm policy={policy.data} onClose={onClose} onTag={onTag} />
        ) : (
          <FormSkeleton heights={[48, 48, 48, 48]} />
        )}
      </Loaded>
    </Dialog>
  );
}

const checkAgainstContract = schemaResolver(customerPolicyInput, { sync: true });
const payloadOf = (values: PolicyValues): CustomerBody => ({
  tags: tagsOf(values),
  ...policyPayload(values),
});
const validate = (values: PolicyValues) =>
  withDayProblem(atPolicyFields(checkAgainstContract(payloadOf(values))), values);

function PolicyForm({ policy, onClose, onTag }: { policy: CustomerPolicy } & Omit<Props, 'id'>) {
  const [seen] = useSeen(`policy of ${policy.customerId}`, policy);
  useDialogSubject(seen.name);
  const leaveTo = useLeaveTo();
  const form = useDialogForm(`policy of ${seen.customerId}`, {
    initialValues: valuesOf(seen),
    validate,
    validateInputOnBlur: typedFields,
  });
  const edit = useEdit({
    subject: aboutCustomer(seen),
    save: ({ tags = [], ...rest }: Partial<CustomerBody>, { updatedAt }) =>
      saveCustomerPolicy(seen.customerId, { tags, ...wholePolicy(rest as never), updatedAt }),
    onSaved: () => {
      void toast({ message: 'Update policy saved', subject: aboutCustomer(seen) });
      onClose();
    },
    onGivenUp: onClose,
    // the impact was counted for what this form says
    isWhole: true,
  });
  const problem = useRefusedFields(edit.error, form, atPolicyFields);
  const [values] = useDebouncedValue(form.values, 300);
  const isValid = Object.keys(validate(values)).length === 0;

  return (
    <>
      <DialogForm
        onSubmit={form.onSubmit((sent) => edit.submit(payloadOf(sent), seen))}
        problem={problem}
        submitLabel="Save Policy"
        busy={edit.busy}
        onCancel={onClose}
      >
        <Text size="sm">For {seen.name}.</Text>
        <TextInput
          label={policyLabels.tags}
          data-autofocus
          placeholder="clinics, slow"
          description="Separated by commas. Fields that are empty here come from the policy of a tag"
          inputWrapperOrder={['label', 'input', 'error', 'description']}
          {...form.getInputProps('tags')}
        />
        {seen.tags.length > 0 && (
          <Group gap="xs">
            {seen.tags.map((tag) => (
              <Button key={tag} size="compact-xs" variant="default" onClick={() => leaveTo(() => onTag(tag))}>
                Policy of {tag}
              </Button>
            ))}
          </Group>
        )}
        <PolicyFields form={form} />
        {isValid && (
          <PolicyImpact
            query={customerImpactQuery(seen.customerId, payloadOf(values))}
            isSettled={values === form.values}
          />
        )}
      </DialogForm>
      <ConflictDialog edit={edit} rowsOf={conflictRows} />
    </>
  );
}
