import { Button, Checkbox, Group, Stack, TextInput, Title } from '@mantine/core';
import { useState } from 'react';
import { requiredText } from '../../../contract/common.ts';
import { needsProof, roleLabel } from '../../../contract/permissions.ts';
import { roleRefusal, type Role } from '../../../contract/users.ts';
import { fieldErrors, sentenceOf } from '../../api-error.ts';
import { useEntered } from '../../dialog-form.ts';
import { differingFields, useEdit } from '../../edit-conflict.ts';
import { roleLabels } from '../../field-labels.ts';
import { useKept, useSeen } from '../../kept-work.ts';
import { useAuth } from '../../session.tsx';
import { ConflictDialog } from '../../ui/ConflictDialog.tsx';
import { DisabledReason } from '../../ui/DisabledReason.tsx';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { Fields } from '../../ui/Fields.tsx';
import { submitTexts } from '../../ui/form-text.ts';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { lazyPart } from '../../ui/lazy-part.ts';
import { toast } from '../../ui/toast.tsx';
import { changeOf, isNoticed } from './role-consequences.ts';
import { OwnPassword } from './OwnPassword.tsx';
import { RoleConsequences } from './RoleConsequences.tsx';
import { RoleMatrix } from './RoleMatrix.tsx';
import {
  isChanged,
  payloadOf,
  permissionsOf,
  valuesOf,
  whyNotCell,
  whyNotEdit,
  withCell,
} from './role-form.ts';
import classes from './roles.module.css';
import { SeeAsRole } from './SeeAsRole.tsx';
import { useMe } from './use-roles.ts';
import { updateRole } from './queries.ts';
import { aboutRole } from '../../toast-subjects.ts';

const DeleteRole = lazyPart(() => import('./DeleteRole.tsx'));

/** Of the call that changes a role. */
const description = requiredText(500, 'Description is required');

/** The permissions of one role, and whether it requires a second factor. */
export function RoleForm(props: {
  role: Role;
  onGone: () => void;
  /** Of a role that was deleted meanwhile: closes the form. */
  onDiscard: (() => void) | undefined;
}) {
  const { role, onGone, onDiscard } = props;
  const { can, refreshRights } = useAuth();
  const me = useMe();
  const key = `role ${role.roleId}`;
  const [seen, setSeen] = useSeen(key, role);
  const [values, setValues] = useEntered(key, valuesOf(seen));
  const [deleting, setDeleting] = useKept<true>('open: delete role');
  const [currentPassword, setCurrentPassword] = useState<string>();
  const locked = whyNotEdit(me, role, can.updateUsers);
  const changed = isChanged(seen, values);
  const change = changeOf(seen, values);
  const nothingToDo = changed ? null : 'Nothing is changed';
  const wrong = description.safeParse(values.description).error?.issues[0]?.message ?? null;
  const unsaved = changed ? 'Save or discard your changes first.' : null;
  const isProofNeeded = needsProof(seen.permissions, permissionsOf(values.cells));
  const beginFrom = (from: Role) => {
    setSeen(from);
    setValues(valuesOf(from));
    setCurrentPassword(undefined);
  };
  const latest = role.updatedAt > seen.updatedAt ? role : seen;
  // The user has no changes of their own to lose.
  if (!changed && latest !== seen) beginFrom(latest);
  const edit = useEdit({
    subject: aboutRole(role.roleId),
    save: (payload: ReturnType<typeof payloadOf>, { updatedAt }) =>
      updateRole(role.roleId, { ...payload, updatedAt, ...(isProofNeeded && { currentPassword }) }),
    onSaved: (saved) => {
      beginFrom(saved);
      void toast({ message: 'Role updated successfully', subject: aboutRole(role.roleId) });
      // It may be the user's own role.
      void refreshRights();
    },
    onGivenUp: () => beginFrom(latest),
  });
  const save = submitTexts(() => {
    // Enter sends a form also where it has no button for that
    if (!locked) edit.submit(payloadOf(values), seen);
  });

  return (
    <section className={`panel ${classes.form}`} aria-label={roleLabel(role.name)}>
      <div className={classes.head}>
        <Title order={2} fz={14} lh="1.25rem">
          {roleLabel(role.name)}
        </Title>
        <Group gap="xs">
          <SeeAsRole role={role} reason={unsaved} />
          {can.updateUsers && (
            <DisabledReason reason={roleRefusal.delete(role) ?? locked ?? unsaved}>
              <Button variant="default" onClick={() => setDeleting(true)}>
                Delete
              </Button>
            </DisabledReason>
          )}
        </Group>
      </div>
      <form noValidate onSubmit={save}>
        <Fields busy={edit.busy}>
          <Stack gap="md">
            <TextInput
              label="Description"
              readOnly={locked !== null}
              error={wrong}
              value={values.description}
              onChange={(event) => setValues({ ...values, description: event.currentTarget.value })}
            />
            <Checkbox
              label="Requires a second factor"
              description={locked ?? 'Users with this role can do nothing else until they have set one up'}
              disabled={locked !== null}
              checked={values.requiresSecondFactor}
              onChange={(event) =>
                setValues({ ...values, requiresSecondFactor: event.currentTarget.checked })
              }
            />
            <RoleMatrix
              label={`What ${roleLabel(role.name)} may do`}
              cells={values.cells}
              whyNot={(permission) => locked ?? whyNotCell(me, role, permission)}
              onChange={(cell, on) => setValues(withCell(values, cell, on))}
            />
            {isNoticed(change) && <RoleConsequences roleId={role.roleId} change={change} />}
            {isProofNeeded && (
              <OwnPassword
                typed={currentPassword}
                // said below
                error={'currentPassword' in fieldErrors(edit.error)}
                onChange={setCurrentPassword}
              />
            )}
            {edit.error && <ErrorText>{sentenceOf(edit.error, 'Failed to update role')}</ErrorText>}
            {!locked && (
              <Group justify="flex-end" gap="xs">
                {/* not disabled: both have nothing left to do once one was pressed, and would lose the focus */}
                <DisabledReason reason={nothingToDo}>
                  <Button variant="default" onClick={onDiscard ?? (() => beginFrom(latest))}>
                    Discard
                  </Button>
                </DisabledReason>
                <DisabledReason reason={nothingToDo ?? wrong}>
                  <Button type="submit" loading={edit.busy}>
                    Save Changes
                  </Button>
                </DisabledReason>
              </Group>
            )}
          </Stack>
        </Fields>
      </form>
      <ConflictDialog edit={edit} rowsOf={(clash) => differingFields(clash, roleLabels)} />
      <LazyDialogs>
        {deleting && <DeleteRole role={role} onDeleted={onGone} onClose={() => setDeleting(undefined)} />}
      </LazyDialogs>
    </section>
  );
}
