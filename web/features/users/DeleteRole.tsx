import { roleLabel } from '../../../contract/permissions.ts';
import type { Role } from '../../../contract/users.ts';
import { sentenceOf } from '../../api-error.ts';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { deleteRole } from './queries.ts';

/** Confirms that a custom role is deleted. */
export default function DeleteRole(props: { role: Role; onDeleted: () => void; onClose: () => void }) {
  const { role } = props;
  const remove = useChange({
    mutationFn: () => deleteRole(role.roleId),
    onSuccess: () =>
      toast({ message: 'Role deleted successfully', subject: { name: roleLabel(role.roleId) } }),
  });
  // left out once the dialog was left, with the role or its screen
  const onSuccess = () => {
    props.onClose();
    props.onDeleted();
  };
  return (
    <ConfirmDialog
      title="Delete Role"
      message={`Delete the role ${roleLabel(role.name)}? Nobody has it.`}
      consequences="affects nobody else"
      confirmLabel="Delete"
      busy={remove.isPending}
      error={remove.error ? sentenceOf(remove.error, 'Failed to delete role') : undefined}
      onConfirm={() => remove.mutate(undefined, { onSuccess })}
      onClose={props.onClose}
    />
  );
}
