import { Button, Checkbox, Group, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { roleLabel } from '../../../contract/permissions.ts';
import type { Role } from '../../../contract/users.ts';
import { useAuth } from '../../session.tsx';
import { DisabledReason } from '../../ui/DisabledReason.tsx';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { toast } from '../../ui/toast.tsx';
import { RoleMatrix } from './RoleMatrix.tsx';
import {
  isChanged,
  permissionsOf,
  valuesOf,
  whyNotCell,
  whyNotDelete,
  whyNotEdit,
  withCell,
} from './role-form.ts';
import classes from './roles.module.css';
import { SeeAsRole } from './SeeAsRole.tsx';
import { useMe } from './use-roles.ts';
import { problemOf, updateRole } from './users.ts';

const DeleteRole = lazy(() => import('./DeleteRole.tsx'));

/** What one role may do, and whether it requires a second factor. */
export function RoleForm({ role, onGone }: { role: Role; onGone: () => void }) {
  const { can, refreshRights } = useAuth();
  const me = useMe();
  const [values, setValues] = useState(() => valuesOf(role));
  const [deleting, setDeleting] = useState(false);
  const locked = whyNotEdit(me, role, can.updateUsers);
  const changed = isChanged(role, values);
  const save = useMutation({
    mutationFn: () =>
      updateRole(role.roleId, {
        description: values.description,
        requiresSecondFactor: values.requiresSecondFactor,
        permissions: permissionsOf(values.cells),
      }),
    onSuccess: () => {
      void toast({ message: 'Role updated successfully' });
      // It may be one's own role.
      void refreshRights();
    },
  });

  return (
    <section className={classes.form} aria-label={roleLabel(role.name)}>
      <div className={classes.head}>
        <h2 className={classes.title}>{roleLabel(role.name)}</h2>
        <Group gap="xs">
          <SeeAsRole role={role} />
          {can.updateUsers && (
            <DisabledReason reason={whyNotDelete(role)}>
              <Button variant="default" onClick={() => setDeleting(true)}>
                Delete
              </Button>
            </DisabledReason>
          )}
        </Group>
      </div>
      <Stack gap="md">
        <TextInput
          label="Description"
          maxLength={500}
          readOnly={locked !== null}
          error={values.description.trim() === '' && 'Description is required'}
          value={values.description}
          onChange={(event) => setValues({ ...values, description: event.currentTarget.value })}
        />
        <Checkbox
          label="Requires a second factor"
          description={locked ?? 'Until they have set one up, people of this role may do nothing but that'}
          disabled={locked !== null}
          checked={values.requiresSecondFactor}
          onChange={(event) => setValues({ ...values, requiresSecondFactor: event.currentTarget.checked })}
        />
        <RoleMatrix
          label={`What ${roleLabel(role.name)} may do`}
          cells={values.cells}
          whyNot={(permission) => locked ?? whyNotCell(me, role, permission)}
          onChange={(cell, on) => setValues(withCell(values, cell, on))}
        />
        {save.error && <ErrorText>{problemOf(save.error, 'Failed to update role')}</ErrorText>}
        {!locked && (
          <Group justify="flex-end" gap="xs">
            <Button variant="default" disabled={!changed} onClick={() => setValues(valuesOf(role))}>
              Discard
            </Button>
            <Button
              disabled={!changed || values.description.trim() === ''}
              loading={save.isPending}
              onClick={() => save.mutate()}
            >
              Save Changes
            </Button>
          </Group>
        )}
      </Stack>
      <Suspense>
        {deleting && <DeleteRole role={role} onDeleted={onGone} onClose={() => setDeleting(false)} />}
      </Suspense>
    </section>
  );
}
