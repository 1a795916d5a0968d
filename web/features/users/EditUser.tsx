import { useQuery } from '@tanstack/react-query';
import type { User } from '../../../contract/users.ts';
import { Loaded } from '../../LoadError.tsx';
import { useEdit } from '../../edit-conflict.ts';
import { useSeen } from '../../kept-work.ts';
import { useAuth } from '../../session.tsx';
import { ConflictDialog } from '../../ui/ConflictDialog.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { FormSkeleton } from '../../ui/FormSkeleton.tsx';
import { toast } from '../../ui/toast.tsx';
import { EditUserForm, type UserValues } from './EditUserForm.tsx';
import { conflictRows } from './user-conflict.ts';
import { updateUser, userQuery } from './queries.ts';
import { aboutUser } from '../../toast-subjects.ts';

/** Edit User: email, name, role (spec part 2, section 2.8). */
export default function EditUser({ id, onClose }: { id: string; onClose: () => void }) {
  const user = useQuery(userQuery(id));
  return (
    <Dialog title="Edit User" subject={user.data?.email} onClose={onClose}>
      <Loaded query={user} title="Failed to fetch users" brief record="user">
        {!user.data ? <FormSkeleton heights={[48, 48, 48]} /> : <Edit user={user.data} onClose={onClose} />}
      </Loaded>
    </Dialog>
  );
}

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

  return (
    <>
      <EditUserForm
        user={seen}
        busy={edit.busy}
        error={edit.error}
        onSubmit={(values) => edit.submit(values, seen)}
        onCancel={onClose}
      />
      <ConflictDialog edit={edit} rowsOf={conflictRows} />
    </>
  );
}
