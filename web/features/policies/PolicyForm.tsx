import type { FormErrors } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import type { UseQueryOptions } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { PolicyImpact as Impact, UpdatePolicy } from '../../../contract/policies.ts';
import { useDialogForm } from '../../dialog-form.ts';
import { useEdit } from '../../edit-conflict.ts';
import { useRefusedFields } from '../../refused-fields.ts';
import { ConflictDialog } from '../../ui/ConflictDialog.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { toast, type ToastSubject } from '../../ui/toast.tsx';
import {
  atPolicyFields,
  conflictRows,
  policyPayload,
  typedFields,
  valuesOf,
  withDayProblem,
  type PolicyFormState,
  type PolicyValues,
} from './policy-form.ts';
import { PolicyFields } from './PolicyFields.tsx';
import { PolicyImpact } from './PolicyImpact.tsx';

type Seen = UpdatePolicy & { tags?: readonly string[]; updatedAt: string };

/** The form of a policy, which counts what saving it changes for machines. */
export function PolicyForm<Body extends object, Key extends readonly unknown[]>(props: {
  /** Of the form, for what is typed while a session ends. */
  name: string;
  seen: Seen;
  subject: ToastSubject;
  bodyOf: (values: PolicyValues) => Body;
  check: (body: Body) => FormErrors;
  impactOf: (body: Body) => UseQueryOptions<Impact, Error, Impact, Key>;
  save: (body: Partial<Body>, base: { updatedAt: string }) => Promise<unknown>;
  onClose: () => void;
  /** Above the fields of the policy. */
  children: (form: PolicyFormState) => ReactNode;
}) {
  const { seen, subject, bodyOf, onClose } = props;
  const validate = (values: PolicyValues) =>
    withDayProblem(atPolicyFields(props.check(bodyOf(values))), values);
  const form = useDialogForm(props.name, {
    initialValues: valuesOf(seen),
    validate,
    validateInputOnBlur: typedFields,
  });
  const edit = useEdit({
    subject,
    save: props.save,
    onSaved: () => {
      void toast({ message: 'Update policy saved', subject });
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
        onSubmit={form.onSubmit((sent) => edit.submit(bodyOf(sent), seen))}
        problem={problem}
        submitLabel="Save Policy"
        busy={edit.busy}
        onCancel={onClose}
      >
        {props.children(form)}
        <PolicyFields form={form} />
        {isValid && (
          <PolicyImpact
            query={props.impactOf(bodyOf(values))}
            policy={policyPayload(values)}
            isSettled={values === form.values}
          />
        )}
      </DialogForm>
      <ConflictDialog edit={edit} rowsOf={conflictRows} />
    </>
  );
}
