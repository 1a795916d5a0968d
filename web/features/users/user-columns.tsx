import type { ReactNode } from 'react';
import { roleLabel } from '../../../contract/permissions.ts';
import type { Role, User } from '../../../contract/users.ts';
import { actionsColumn, type Column } from '../../ui/data-table.ts';
import { DisabledReason } from '../../ui/DisabledReason.tsx';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { RowActions, RowButton } from '../../ui/RowButton.tsx';
import { ActiveBadge } from '../../ui/StatusBadge.tsx';
import { whyNotChange, whyNotRemove, type Me } from './user-can.ts';
import classes from './users.module.css';

/** Columns that are not in the spec, hidden until the user shows them. */
export const hiddenAtFirst = { secondFactor: false, lastSignInAt: false, createdAt: false };

export type UserAction = 'resetPassword' | 'deactivate' | 'reactivate' | 'delete' | 'sessions';

type Handlers = {
  me: Me;
  roles: readonly Role[];
  mayUpdate: boolean;
  mayDelete: boolean;
  onEdit: (user: User) => void;
  onAction: (action: UserAction, user: User) => void;
};

export function userColumns(handlers: Handlers): Column<User>[] {
  const { mayUpdate, mayDelete, me, roles } = handlers;
  const columns: Column<User>[] = [
    {
      id: 'email',
      header: 'Email',
      alwaysShown: true,
      width: 1,
      cell: (user) => (
        <span className={classes.email} title={user.email}>
          {user.email}
          {user.id === me.userId && ' (you)'}
        </span>
      ),
    },
    {
      id: 'name',
      header: 'Name',
      width: 1,
      cell: (user) => (
        <span className={classes.name} title={user.name}>
          {user.name || '—'}
        </span>
      ),
    },
    { id: 'role', header: 'Role', cell: (user) => <RoleCell user={user} roles={roles} /> },
    { id: 'status', header: 'Status', width: 1, cell: (user) => <ActiveBadge status={user.status} /> },
    { id: 'secondFactor', header: 'Second Factor', cell: (user) => (user.secondFactor ? 'Set up' : '—') },
    {
      id: 'lastSignInAt',
      header: 'Last Sign-in',
      cell: (user) => (user.lastSignInAt ? <RelativeTime value={user.lastSignInAt} /> : 'Never'),
    },
    { id: 'createdAt', header: 'Created', cell: (user) => <RelativeTime value={user.createdAt} /> },
  ];
  if (mayUpdate || mayDelete) columns.push(actionsColumn((user) => <Actions user={user} {...handlers} />));
  return columns;
}

/** The role and its description; several where the API assigned more than one. */
function RoleCell({ user, roles }: { user: User; roles: readonly Role[] }): ReactNode {
  const description = roles.find(({ roleId }) => roleId === user.role)?.description;
  const others = user.roles.filter((name) => name !== user.role).map(roleLabel);
  const text = [roleLabel(user.role) || '—', ...others].join(', ');
  return (
    <span className={classes.role} title={description}>
      {text}
      {description && <span> – {description}</span>}
    </span>
  );
}

function Actions({ user, me, roles, mayUpdate, mayDelete, onEdit, onAction }: Handlers & { user: User }) {
  const beyond = whyNotChange(me, user, roles);
  const active = user.status === 'active';
  const ownPassword =
    me.userId === user.id ? 'Change your own password on your account page: choose your name above.' : null;
  const button = (label: string, reason: string | null, onClick: () => void, tone?: 'red') => (
    <DisabledReason reason={reason}>
      <RowButton tone={tone} onClick={onClick}>
        {label}
      </RowButton>
    </DisabledReason>
  );
  return (
    <RowActions>
      {mayUpdate && (
        <>
          {button('Edit', beyond, () => onEdit(user))}
          {button('Reset Password', beyond ?? ownPassword, () => onAction('resetPassword', user))}
          {active
            ? button(
                'Deactivate',
                beyond ?? whyNotRemove(me, user, 'deactivate'),
                () => onAction('deactivate', user),
                'red',
              )
            : button('Reactivate', beyond, () => onAction('reactivate', user))}
          {button('Sessions', me.isSuperAdmin ? null : beyond, () => onAction('sessions', user))}
        </>
      )}
      {mayDelete &&
        button('Delete', beyond ?? whyNotRemove(me, user, 'delete'), () => onAction('delete', user), 'red')}
    </RowActions>
  );
}
