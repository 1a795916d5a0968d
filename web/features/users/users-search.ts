import { getRouteApi } from '@tanstack/react-router';
import { userStatuses } from '../../../contract/list-words.ts';
import { idParam, recordParam, searchOf, textParam, wordParam } from '../../search-params.ts';
import { useSearch } from '../../use-search.ts';

/** Search parameters of User Management: tab, search, the role in the editor, and the open dialog. */
export const usersSearch = searchOf((params) => ({
  tab: wordParam(params, 'tab', ['roles']),
  search: textParam(params, 'search'),
  status: wordParam(params, 'status', userStatuses),
  /** Id of the role in the editor, or that the listed users have. */
  role: textParam(params, 'role'),
  /** Id of the saved view that is open. */
  view: idParam(params, 'view'),
  dialog: wordParam(params, 'dialog', ['create']),
  /** Id of the user whose Edit dialog is open. */
  edit: recordParam(params, 'edit'),
}));
export type UsersSearch = ReturnType<typeof usersSearch>;

const route = getRouteApi('/signed-in/users');
export const useUsersSearch = () => useSearch<UsersSearch>(route, { dialogs: ['dialog', 'edit'] });
