import { PasswordInput, TextInput } from '@mantine/core';
import { schemaResolver } from '@mantine/form';
import { userInput } from '../../../contract/users.ts';
import { userLabels } from '../../field-labels.ts';
import { sentenceBesideFields } from '../../api-error.ts';
import { useDialogForm } from '../../dialog-form.ts';
import { passwordError } from '../../password-problem.ts';
import { useRefusedFields } from '../../refused-fields.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { ProofOfGrant } from './OwnPassword.tsx';
import { RoleSelect } from './RoleSelect.tsx';
import { createUser, type NewUser } from './queries.ts';
import { aboutUser } from '../../toast-subjects.ts';

type Values = Required<Omit<NewUser, 'currentPassword'>> & Pick<NewUser, 'currentPassword'>;

const checkAgainstContract = schemaResolver(userInput, { sync: true });

/** Email, password and role are required (spec part 2, section 5). */
function validate(values: Values) {
  return {
    ...checkAgainstContract(values),
    ...(values.password === '' && { password: 'Password is required' }),
    ...(values.role === '' && { role: 'Role is required' }),
  };
}

/** Create New User (spec part 2, section 2.8). */
export default function CreateUser({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Create New User" onClose={onClose}>
      <CreateForm onClose={onClose} />
    </Dialog>
  );
}

function CreateForm({ onClose }: { onClose: () => void }) {
  const form = useDialogForm<Values>('new user', {
    initialValues: { email: '', name: '', password: '', role: '', currentPassword: undefined },
    validate,
    validateInputOnBlur: ['email'],
  });
  const create = useChange({
    mutationFn: createUser,
    onSuccess: (user) => {
      void toast({ message: 'User created successfully', subject: aboutUser(user) });
      onClose();
    },
  });
  useRefusedFields(create.error, form);
  const problem = sentenceBesideFields(create.error, 'Failed to create user');

  return (
    <DialogForm
      onSubmit={form.onSubmit((values) => create.mutate(values))}
      problem={problem}
      submitLabel="Create User"
      busy={create.isPending}
      onCancel={onClose}
    >
      <TextInput
        label={userLabels.email}
        type="email"
        required
        data-autofocus
        autoComplete="off"
        {...form.getInputProps('email')}
      />
      <TextInput label={userLabels.name} autoComplete="off" {...form.getInputProps('name')} />
      <PasswordInput
        label="Password"
        required
        autoComplete="new-password"
        {...form.getInputProps('password')}
        {...passwordError(form.errors['password'])}
      />
      <RoleSelect
        label={userLabels.role}
        value={form.values.role}
        error={form.errors['role']}
        onChange={(role) => form.setValues({ role, currentPassword: undefined })}
      />
      <ProofOfGrant
        before={[]}
        after={[form.values.role]}
        typed={form.values.currentPassword}
        error={form.errors['currentPassword']}
        onChange={(typed) => form.setFieldValue('currentPassword', typed)}
      />
    </DialogForm>
  );
}
