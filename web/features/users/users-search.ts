import { getRouteApi } from '@tanstack/react-router';
import { idParam, oneOf, recordParam, searchOf, textParam } from '../../search-params.ts';
import { useSearch } from '../../use-search.ts';

/** Search parameters of User Management: tab, search, the role in the editor, and the open dialog. */
export const usersSearch = searchOf((params) => ({
  tab: oneOf(['roles'], textParam(params, 'tab')),
  search: textParam(params, 'search'),
  status: textParam(params, 'status'),
  /** Id of the role in the editor, or that the listed users have. */
  role: textParam(params, 'role'),
  /** Id of the saved view that is open. */
  view: idParam(params, 'view'),
  dialog: oneOf(['create'], textParam(params, 'dialog')),
  /** Id of the user whose Edit dialog is open. */
  edit: recordParam(params, 'edit'),
}));
export type UsersSearch = ReturnType<typeof usersSearch>;

const route = getRouteApi('/signed-in/users');
export const useUsersSearch = () => useSearch<UsersSearch>(route, { dialogs: ['dialog', 'edit'] });
