import type { ReactNode } from 'react';
import { roleLabel } from '../../../contract/permissions.ts';
import type { Role, User } from '../../../contract/users.ts';
import type { Column } from '../../ui/data-table.ts';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { ActiveBadge } from '../../ui/StatusBadge.tsx';
import type { Me } from './user-can.ts';

/** Columns that are not in the spec, hidden until the user shows them. */
export const hiddenAtFirst = { secondFactor: false, lastSignInAt: false, createdAt: false };

export const userColumns = (me: Me, roles: readonly Role[]): Column<User>[] => [
  {
    id: 'email',
    header: 'Email',
    alwaysShown: true,
    width: '26%',
    least: 190,
    cell: ({ id, email }) => (id === me.userId ? `${email} (you)` : email),
  },
  {
    id: 'name',
    header: 'Name',
    width: '10%',
    least: 95,
    cell: (user) => user.name || '—',
  },
  { id: 'role', header: 'Role', least: 150, cell: (user) => <RoleCell user={user} roles={roles} /> },
  { id: 'status', header: 'Status', width: 1, cell: (user) => <ActiveBadge status={user.status} /> },
  { id: 'secondFactor', header: 'Second Factor', cell: (user) => (user.secondFactor ? 'Set up' : '—') },
  {
    id: 'lastSignInAt',
    header: 'Last Sign-in',
    cell: (user) => (user.lastSignInAt ? <RelativeTime value={user.lastSignInAt} /> : 'Never'),
  },
  { id: 'createdAt', header: 'Created', cell: (user) => <RelativeTime value={user.createdAt} /> },
];

/** The role and its description; several where the API assigned more than one. */
function RoleCell({ user, roles }: { user: User; roles: readonly Role[] }): ReactNode {
  const description = roles.find(({ roleId }) => roleId === user.role)?.description;
  const others = user.roles.filter((name) => name !== user.role).map(roleLabel);
  const text = [roleLabel(user.role) || '—', ...others].join(', ');
  return (
    <>
      {text}
      {description && <span className="dimmed"> – {description}</span>}
    </>
  );
}
