import { roleLabel } from '../../../contract/permissions.ts';
import type { Role } from '../../../contract/users.ts';
import { sentenceOf } from '../../api-error.ts';
import { useConfirmedChange } from '../../confirmed-change.ts';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { deleteRole } from './queries.ts';

/** Confirms that a custom role is deleted. */
export default function DeleteRole(props: { role: Role; onDeleted: () => void; onClose: () => void }) {
  const { role } = props;
  const confirmed = useConfirmedChange({
    change: () => deleteRole(role.roleId),
    done: () => {
      props.onDeleted();
      return { message: 'Role deleted successfully', subject: { name: roleLabel(role.roleId) } };
    },
    problemOf: (error) => sentenceOf(error, 'Failed to delete role'),
    onClose: props.onClose,
  });
  return (
    <ConfirmDialog
      title="Delete Role"
      message={`Delete the role ${roleLabel(role.name)}? Nobody has it.`}
      consequences="affects nobody else"
      confirmLabel="Delete"
      {...confirmed}
    />
  );
}
