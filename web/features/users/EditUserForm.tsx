import { TextInput } from '@mantine/core';
import { schemaResolver } from '@mantine/form';
import { userPatch, type User } from '../../../contract/users.ts';
import { userLabels } from '../../field-labels.ts';
import { sentenceBesideFields } from '../../api-error.ts';
import { useDialogForm } from '../../dialog-form.ts';
import { useRefusedFields } from '../../refused-fields.ts';
import { ConsequenceList } from '../../ui/Consequences.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { ProofOfGrant } from './OwnPassword.tsx';
import { RoleSelect } from './RoleSelect.tsx';
import { useUserConsequences } from './user-consequences.ts';

export type UserValues = { email: string; name: string; role: string; currentPassword: string | undefined };

const checkAgainstContract = schemaResolver(userPatch, { sync: true });

/** Email and role are required (spec part 2, section 5). */
const validate = (values: UserValues) => ({
  ...checkAgainstContract(values),
  ...(values.role === '' && { role: 'Role is required' }),
});

/** Fields of the Edit dialog. It is not submitted while one of them is invalid. */
export function EditUserForm(props: {
  user: User;
  busy: boolean;
  error: Error | null;
  onSubmit: (values: UserValues) => void;
  onCancel: () => void;
}) {
  const { id, email, name, role } = props.user;
  const form = useDialogForm<UserValues>(id, {
    initialValues: { email, name, role, currentPassword: undefined },
    validate,
  });
  useRefusedFields(props.error, form);
  const problem = sentenceBesideFields(props.error, 'Failed to update user');

  return (
    <DialogForm
      onSubmit={form.onSubmit(props.onSubmit)}
      problem={problem}
      submitLabel="Update User"
      busy={props.busy}
      onCancel={props.onCancel}
    >
      <TextInput
        label={userLabels.email}
        type="email"
        required
        data-autofocus
        {...form.getInputProps('email')}
      />
      <TextInput label={userLabels.name} {...form.getInputProps('name')} />
      <RoleSelect
        label={userLabels.role}
        value={form.values.role}
        error={form.errors['role']}
        onChange={(value) => form.setValues({ role: value, currentPassword: undefined })}
      />
      <ProofOfGrant
        before={role}
        after={form.values.role}
        typed={form.values.currentPassword}
        error={form.errors['currentPassword']}
        onChange={(typed) => form.setFieldValue('currentPassword', typed)}
      />
      {form.values.role !== role && <UserRoleConsequences id={id} />}
    </DialogForm>
  );
}

function UserRoleConsequences({ id }: { id: string }) {
  return <ConsequenceList of={useUserConsequences(id, 'changeRole')} />;
}
