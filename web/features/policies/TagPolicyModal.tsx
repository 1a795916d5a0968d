import { Text } from '@mantine/core';
import { schemaResolver } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { noPolicy, tagPolicyInput, type TagPolicy } from '../../../contract/policies.ts';
import { useDialogForm } from '../../dialog-form.ts';
import { useEdit } from '../../edit-conflict.ts';
import { useSeen } from '../../kept-work.ts';
import { Loaded } from '../../LoadError.tsx';
import { useRefusedFields } from '../../refused-fields.ts';
import { ConflictDialog } from '../../ui/ConflictDialog.tsx';
import { counted } from '../../ui/counted.ts';
import { Dialog, useDialogSubject } from '../../ui/Dialog.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { FormSkeleton } from '../../ui/FormSkeleton.tsx';
import { paths } from '../../paths.ts';
import { toast } from '../../ui/toast.tsx';
import {
  conflictRows,
  policyPayload,
  typedFields,
  valuesOf,
  wholePolicy,
  withDayProblem,
  type PolicyValues,
} from './policy-form.ts';
import { PolicyFields } from './PolicyFields.tsx';
import { PolicyImpact } from './PolicyImpact.tsx';
import { saveTagPolicy, tagImpactQuery, tagPolicyQuery, type TagBody } from './queries.ts';

/** The update policy of all customers with a tag. */
export default function TagPolicyModal({ tag, onClose }: { tag: string; onClose: () => void }) {
  const stored = useQuery(tagPolicyQuery(tag));
  const empty = { tag, customers: 0, ...noPolicy, updatedAt: new Date(0).toISOString() };
  return (
    <Dialog title="Update Policy of a Tag" onClose={onClose}>
      <Loaded query={stored} title="Error loading update policy">
        {stored.data !== undefined ? (
          <TagForm policy={stored.data ?? empty} onClose={onClose} />
        ) : (
          <FormSkeleton heights={[48, 48, 48]} />
        )}
      </Loaded>
    </Dialog>
  );
}

const checkAgainstContract = schemaResolver(tagPolicyInput, { sync: true });
const validate = (values: PolicyValues) =>
  withDayProblem(checkAgainstContract(policyPayload(values)), values);

function TagForm({ policy, onClose }: { policy: TagPolicy; onClose: () => void }) {
  const [seen] = useSeen(`policy of tag ${policy.tag}`, policy);
  useDialogSubject(seen.tag);
  const form = useDialogForm(`policy of tag ${seen.tag}`, {
    initialValues: valuesOf(seen),
    validate,
    validateInputOnBlur: typedFields,
  });
  const subject = { name: `Tag ${seen.tag}`, to: paths.policies };
  const edit = useEdit({
    subject,
    save: (payload: Partial<TagBody>, { updatedAt }) =>
      saveTagPolicy(seen.tag, { ...wholePolicy(payload as never), updatedAt }),
    onSaved: () => {
      void toast({ message: 'Update policy saved', subject });
      onClose();
    },
    onGivenUp: onClose,
    // the impact was counted for what this form says
    isWhole: true,
  });
  const problem = useRefusedFields(edit.error, form);
  const [values] = useDebouncedValue(form.values, 300);
  const isValid = Object.keys(validate(values)).length === 0;
  return (
    <>
      <DialogForm
        onSubmit={form.onSubmit((sent) => edit.submit(policyPayload(sent), seen))}
        problem={problem}
        submitLabel="Save Policy"
        busy={edit.busy}
        onCancel={onClose}
      >
        <Text size="sm">
          For {counted(seen.customers, 'customer')} with the tag {seen.tag}. What a customer decides itself
          comes first, then its tags in alphabetical order.
        </Text>
        <PolicyFields form={form} />
        {isValid && (
          <PolicyImpact
            query={tagImpactQuery(seen.tag, policyPayload(values))}
            isSettled={values === form.values}
          />
        )}
      </DialogForm>
      <ConflictDialog edit={edit} rowsOf={conflictRows} />
    </>
  );
}
