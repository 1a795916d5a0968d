import { Button, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { roleLabel } from '../../../contract/permissions.ts';
import { LoadError } from '../../LoadError.tsx';
import { useKept } from '../../kept-work.ts';
import { useAuth } from '../../session.tsx';
import { counted } from '../../ui/counted.ts';
import { PageForm } from '../../ui/Dialog.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { IconPlus } from '../../ui/icons.tsx';
import { RoleForm } from './RoleForm.tsx';
import classes from './roles.module.css';
import { useUsersSearch, usersSearch } from './users-search.ts';
import { rolesQuery } from './queries.ts';
import { lazyPart } from '../../ui/lazy-part.ts';

const NewRole = lazyPart(() => import('./NewRole.tsx'));

/** The roles, and the permissions of the selected one. */
export default function RoleEditor() {
  const { search, change } = useUsersSearch();
  const { can } = useAuth();
  const roles = useQuery(rolesQuery);
  const [creating, setCreating] = useKept<true>('open: new role');
  const found = roles.data?.find(({ roleId }) => roleId === search.role);
  const [last, setLast] = useState(found);
  if (found && found !== last) setLast(found);
  if (roles.isLoadingError) return <LoadError title="Failed to fetch roles" query={roles} brief />;
  if (!roles.data) return <Skeleton height={300} radius={8} role="group" aria-busy aria-label="Loading" />;
  // One that a colleague deletes stays with what was entered, until another is chosen.
  const chosen = found ?? (last?.roleId === search.role ? last : undefined) ?? roles.data[0];
  if (!chosen) return null;
  return (
    <div className={classes.editor}>
      <div className={classes.list}>
        <nav className="panel" aria-label="Roles">
          {roles.data.map((role) => (
            <button
              key={role.roleId}
              type="button"
              className={classes.choice}
              aria-current={role.roleId === chosen.roleId || undefined}
              onClick={() => change({ role: role.roleId })}
            >
              <span>{roleLabel(role.name)}</span>
              <span className={classes.count}>{counted(role.userCount, 'user')}</span>
            </button>
          ))}
        </nav>
        {can.updateUsers && (
          <Button
            variant="default"
            data-hotkey="c"
            leftSection={<IconPlus />}
            onClick={() => setCreating(true)}
          >
            New Role
          </Button>
        )}
      </div>
      <PageForm key={chosen.roleId} part={placeOf}>
        <RoleForm
          role={chosen}
          onGone={() => change({ role: undefined })}
          onDiscard={roles.data.includes(chosen) ? undefined : () => setLast(undefined)}
        />
      </PageForm>
      <LazyDialogs>
        {creating && (
          <NewRole
            copyFrom={chosen.roleId}
            onCreated={(role) => change({ role })}
            onClose={() => setCreating(undefined)}
          />
        )}
      </LazyDialogs>
    </div>
  );
}

/** The role that is shown, or the tab that replaces it. */
function placeOf(search: object): string {
  const { tab, role } = usersSearch({ ...search });
  return `${tab} ${role}`;
}
