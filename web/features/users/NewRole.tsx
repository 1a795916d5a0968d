import { TextInput } from '@mantine/core';
import { schemaResolver, type FormErrors } from '@mantine/form';
import { roleInput, type Role } from '../../../contract/users.ts';
import { sentenceBesideFields } from '../../api-error.ts';
import { useDialogForm } from '../../dialog-form.ts';
import { useRefusedFields } from '../../refused-fields.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { RoleSelect } from './RoleSelect.tsx';
import { createRole } from './queries.ts';
import { aboutRole } from '../../toast-subjects.ts';

const validate = schemaResolver(roleInput, { sync: true });

/** An error about the permissions is shown at the role that they are copied from. */
const atFields = ({ role, ...errors }: FormErrors): FormErrors =>
  role ? { ...errors, copyFrom: role } : errors;

/** Creates a role with the permissions of an existing one, to be edited afterwards. */
export default function NewRole(props: Props) {
  return (
    <Dialog title="New Role" onClose={props.onClose}>
      <CreateForm {...props} />
    </Dialog>
  );
}

type Props = { copyFrom: string; onCreated: (roleId: string) => void; onClose: () => void };

function CreateForm(props: Props) {
  const { onCreated, onClose } = props;
  const form = useDialogForm('new role', {
    initialValues: { roleId: '', description: '', copyFrom: props.copyFrom },
    validate,
    validateInputOnBlur: ['roleId'],
  });
  const create = useChange({
    mutationFn: (values: typeof form.values) => createRole({ ...values, roleId: values.roleId.trim() }),
    onSuccess: ({ roleId }) => {
      void toast({ message: 'Role created successfully', subject: aboutRole(roleId) });
    },
  });
  const onSuccess = ({ roleId }: Role) => {
    onClose();
    onCreated(roleId);
  };
  useRefusedFields(create.error, form, atFields);
  const problem = sentenceBesideFields(create.error, 'Failed to create role');

  return (
    <DialogForm
      // left out once the dialog was left
      onSubmit={form.onSubmit((values) => create.mutate(values, { onSuccess }))}
      problem={problem}
      submitLabel="Create Role"
      busy={create.isPending}
      onCancel={onClose}
    >
      <TextInput
        label="Name"
        description="Lower-case letters, digits and underscores, such as night_support"
        required
        data-autofocus
        {...form.getInputProps('roleId')}
      />
      <TextInput label="Description" required {...form.getInputProps('description')} />
      <RoleSelect
        label="Rights of"
        value={form.values.copyFrom}
        error={form.errors['copyFrom']}
        onChange={(role) => form.setFieldValue('copyFrom', role)}
      />
    </DialogForm>
  );
}
