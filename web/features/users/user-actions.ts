import type { Role, User } from '../../../contract/users.ts';
import type { RowActionList } from '../../ui/row-actions.ts';
import { whyNotChange, whyNotRemove, type Me } from './user-can.ts';

export type UserAction = 'resetPassword' | 'deactivate' | 'reactivate' | 'delete' | 'sessions';

type Handlers = {
  me: Me;
  roles: readonly Role[];
  mayUpdate: boolean;
  mayDelete: boolean;
  onEdit: (user: User) => void;
  onAction: (action: UserAction, user: User) => void;
};

/** The actions of a user; those of spec part 2, section 2.8, are buttons in the row. */
export function userActions(user: User, handlers: Handlers): RowActionList {
  const { me, roles, mayUpdate, mayDelete, onEdit, onAction } = handlers;
  const beyond = whyNotChange(me, user, roles);
  const ownPassword =
    me.userId === user.id ? 'Change your own password on your account page: choose your name above.' : null;
  const ask = (action: UserAction) => () => onAction(action, user);
  return [
    mayUpdate && {
      label: 'Edit',
      key: 'e',
      isMain: true,
      inRow: true,
      reason: beyond,
      run: () => onEdit(user),
    },
    mayUpdate && {
      label: 'Reset Password',
      key: 'p',
      inRow: true,
      reason: beyond ?? ownPassword,
      run: ask('resetPassword'),
    },
    mayUpdate && {
      label: 'Sessions',
      key: 's',
      reason: me.isSuperAdmin ? null : beyond,
      run: ask('sessions'),
    },
    mayUpdate &&
      (user.status === 'active'
        ? {
            label: 'Deactivate',
            key: 'a',
            danger: true,
            inRow: true,
            reason: beyond ?? whyNotRemove(me, user, 'deactivate'),
            run: ask('deactivate'),
          }
        : { label: 'Reactivate', key: 'a', inRow: true, reason: beyond, run: ask('reactivate') }),
    mayDelete && {
      label: 'Delete',
      key: 'd',
      danger: true,
      inRow: true,
      reason: beyond ?? whyNotRemove(me, user, 'delete'),
      run: ask('delete'),
    },
  ];
}
