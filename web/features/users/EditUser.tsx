import { Text, TextInput } from '@mantine/core';
import { schemaResolver } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { roleLabel } from '../../../contract/permissions.ts';
import { userPatch, type User } from '../../../contract/users.ts';
import { sentenceBesideFields } from '../../api-error.ts';
import { useDialogForm } from '../../dialog-form.ts';
import { LoadedForm } from '../../LoadedForm.tsx';
import { differingFields, orDash, useEdit, type Clash } from '../../edit-conflict.ts';
import { userLabels } from '../../field-labels.ts';
import { useSeen } from '../../kept-work.ts';
import { useRefusedFields } from '../../refused-fields.ts';
import { useAuth } from '../../session.tsx';
import { ConflictDialog } from '../../ui/ConflictDialog.tsx';
import { ConsequenceList } from '../../ui/Consequences.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { toast } from '../../ui/toast.tsx';
import { ProofOfGrant } from './OwnPassword.tsx';
import { RoleSelect } from './RoleSelect.tsx';
import { useUserConsequences } from './user-consequences.ts';
import { updateUser, userQuery } from './queries.ts';
import { aboutUser } from '../../toast-subjects.ts';

/** Edit User: email, name, role (spec part 2, section 2.8). */
export default function EditUser({ id, onClose }: { id: string; onClose: () => void }) {
  const user = useQuery(userQuery(id));
  return (
    <Dialog title="Edit User" subject={user.data?.email} onClose={onClose}>
      <LoadedForm query={user} title="Failed to fetch users" brief record="user" heights={[48, 48, 48]}>
        {(data) => <Edit user={data} onClose={onClose} />}
      </LoadedForm>
    </Dialog>
  );
}

type UserValues = { email: string; name: string; role: string; currentPassword: string | undefined };

const checkAgainstContract = schemaResolver(userPatch, { sync: true });

/** Email and role are required (spec part 2, section 5). */
const validate = (values: UserValues) => ({
  ...checkAgainstContract(values),
  ...(values.role === '' && { role: 'Role is required' }),
});

function Edit({ user, onClose }: { user: User; onClose: () => void }) {
  const [seen] = useSeen(user.id, user);
  const { user: me, refreshRights } = useAuth();
  const edit = useEdit({
    subject: aboutUser(seen),
    save: (values: UserValues, { updatedAt }) =>
      // An unchanged role is not sent: a user with more than one role keeps them.
      updateUser(seen.id, {
        ...values,
        role: values.role === seen.role ? undefined : values.role,
        updatedAt,
      }),
    onSaved: (saved) => {
      void toast({ message: 'User updated successfully', subject: aboutUser(saved) });
      // their own role, or their name in the bar
      if (saved.id === me?.userId) void refreshRights();
      onClose();
    },
    onGivenUp: onClose,
  });
  const form = useDialogForm<UserValues>(seen.id, {
    initialValues: { email: seen.email, name: seen.name, role: seen.role, currentPassword: undefined },
    validate,
  });
  useRefusedFields(edit.error, form);

  return (
    <>
      <DialogForm
        onSubmit={form.onSubmit((values) => edit.submit(values, seen))}
        problem={sentenceBesideFields(edit.error, 'Failed to update user')}
        submitLabel="Update User"
        busy={edit.busy}
        onCancel={onClose}
      >
        <TextInput
          label={userLabels.email}
          type="email"
          required
          data-autofocus
          {...form.getInputProps('email')}
          onChange={({ currentTarget: { value: email } }) =>
            form.setValues({ email, ...(email === seen.email && { currentPassword: undefined }) })
          }
        />
        <TextInput label={userLabels.name} {...form.getInputProps('name')} />
        <RoleSelect
          label={userLabels.role}
          userId={seen.id}
          value={form.values.role}
          error={form.errors['role']}
          onChange={(value) => form.setValues({ role: value, currentPassword: undefined })}
        />
        <ProofOfGrant
          before={seen.roles}
          after={[form.values.role]}
          isOwnEmail={seen.id === me?.userId && form.values.email !== seen.email}
          typed={form.values.currentPassword}
          error={form.errors['currentPassword']}
          onChange={(typed) => form.setFieldValue('currentPassword', typed)}
        />
        {form.values.role !== seen.role && seen.roles.length > 1 && (
          <Text>It replaces all roles of this user: {seen.roles.map(roleLabel).join(', ')}.</Text>
        )}
        {form.values.role !== seen.role && <UserRoleConsequences id={seen.id} role={form.values.role} />}
      </DialogForm>
      <ConflictDialog edit={edit} rowsOf={conflictRows} />
    </>
  );
}

const conflictRows = (clash: Clash) => differingFields(clash, userLabels, { role: orDash(roleLabel) });

function UserRoleConsequences({ id, role }: { id: string; role: string }) {
  const change = role === 'service_account' ? 'makeServiceAccount' : 'changeRole';
  return <ConsequenceList of={useUserConsequences(id, change)} />;
}
