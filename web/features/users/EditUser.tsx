import { Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { User } from '../../../contract/users.ts';
import { useEdit } from '../../edit-conflict.ts';
import { ConflictDialog } from '../../ui/ConflictDialog.tsx';
import { FormSkeleton } from '../../ui/FormSkeleton.tsx';
import { ErrorState } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { EditUserForm, type UserValues } from './EditUserForm.tsx';
import { conflictRows } from './user-conflict.ts';
import { problemOf, updateUser, userQuery } from './users.ts';

/** Edit User: email, name, role (spec part 2, section 2.8). */
export default function EditUser({ id, onClose }: { id: string; onClose: () => void }) {
  const user = useQuery(userQuery(id));
  const [conflicting, setConflicting] = useState(false);
  return (
    // Escape answers the question about the conflict first.
    <Modal opened onClose={onClose} title="Edit User" closeOnEscape={!conflicting}>
      {user.isLoadingError ? (
        <ErrorState
          title="Failed to fetch users"
          message={problemOf(user.error, 'Failed to fetch users')}
          onRetry={() => void user.refetch()}
        />
      ) : !user.data ? (
        <FormSkeleton heights={[48, 48, 48]} />
      ) : (
        <Edit user={user.data} onConflict={setConflicting} onClose={onClose} />
      )}
    </Modal>
  );
}

function Edit(props: { user: User; onConflict: (conflict: boolean) => void; onClose: () => void }) {
  const { onConflict, onClose } = props;
  // What the person began from; a later load of the same user must not pass for having been seen.
  const [seen] = useState(props.user);
  const edit = useEdit({
    save: (values: UserValues, updatedAt) =>
      // A role that was not touched is not sent: someone with more than one role keeps them.
      updateUser(seen.id, {
        ...values,
        role: values.role === seen.role ? undefined : values.role,
        updatedAt,
      }),
    onSaved: () => {
      void toast({ message: 'User updated successfully' });
      onClose();
    },
    onConflict,
  });

  return (
    <>
      <EditUserForm
        user={seen}
        busy={edit.busy}
        error={edit.error}
        onSubmit={(values) => edit.submit(values, seen.updatedAt)}
        onCancel={onClose}
      />
      {edit.conflict && (
        <ConflictDialog
          rows={conflictRows(edit.conflict.error)}
          busy={edit.busy}
          onKeepTheirs={onClose}
          onSaveMine={edit.conflict.saveMine}
          onClose={edit.conflict.dismiss}
        />
      )}
    </>
  );
}
