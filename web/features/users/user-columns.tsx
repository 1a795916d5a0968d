import type { ReactNode } from 'react';
import { roleLabel } from '../../../contract/permissions.ts';
import type { Role, User } from '../../../contract/users.ts';
import type { Column } from '../../ui/data-table.ts';
import { DisabledReason } from '../../ui/DisabledReason.tsx';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { RowActions, RowButton } from '../../ui/RowButton.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
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
      accessorKey: 'email',
      header: 'Email',
      enableHiding: false,
      meta: { width: 1 },
      cell: ({ row }) => (
        <span className={classes.email} title={row.original.email}>
          {row.original.email}
          {row.original.id === me.userId && ' (you)'}
        </span>
      ),
    },
    {
      accessorKey: 'name',
      header: 'Name',
      meta: { width: 1 },
      cell: ({ row }) => (
        <span className={classes.name} title={row.original.name}>
          {row.original.name || '—'}
        </span>
      ),
    },
    {
      accessorKey: 'role',
      header: 'Role',
      cell: ({ row }) => <RoleCell user={row.original} roles={roles} />,
    },
    {
      accessorKey: 'status',
      header: 'Status',
      meta: { width: 1 },
      cell: ({ row }) => <UserStatus user={row.original} />,
    },
    {
      accessorKey: 'secondFactor',
      header: 'Second Factor',
      cell: ({ row }) => (row.original.secondFactor ? 'Set up' : '—'),
    },
    {
      accessorKey: 'lastSignInAt',
      header: 'Last Sign-in',
      cell: ({ row }) =>
        row.original.lastSignInAt ? <RelativeTime value={row.original.lastSignInAt} /> : 'Never',
    },
    {
      accessorKey: 'createdAt',
      header: 'Created',
      cell: ({ row }) => <RelativeTime value={row.original.createdAt} />,
    },
  ];
  if (mayUpdate || mayDelete) columns.push(actionsColumn(handlers));
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

function UserStatus({ user }: { user: User }) {
  return (
    <StatusBadge tone={user.status === 'active' ? 'teal' : 'red'}>
      {user.status === 'active' ? 'Active' : 'Inactive'}
    </StatusBadge>
  );
}

const actionsColumn = (handlers: Handlers): Column<User> => ({
  id: 'actions',
  header: 'Actions',
  enableHiding: false,
  meta: { width: 1, pinned: true },
  cell: ({ row }) => <Actions user={row.original} {...handlers} />,
});

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
