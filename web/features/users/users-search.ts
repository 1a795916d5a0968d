import { getRouteApi } from '@tanstack/react-router';
import { idParam, textParam } from '../../search-params.ts';
import { useSearch } from '../../use-search.ts';

/** Search parameters of User Management: tab, search, the role in the editor, and the open dialog. */
export type UsersSearch = {
  tab?: 'roles' | undefined;
  search?: string | undefined;
  /** Id of the role in the editor. */
  role?: string | undefined;
  /** Id of the saved view that is open. */
  view?: string | undefined;
  dialog?: 'create' | undefined;
  /** Id of the user whose Edit dialog is open. */
  edit?: string | undefined;
};

export const usersSearch = (params: Record<string, unknown>): UsersSearch => ({
  tab: params['tab'] === 'roles' ? 'roles' : undefined,
  search: textParam(params, 'search'),
  role: textParam(params, 'role'),
  view: idParam(params, 'view'),
  dialog: params['dialog'] === 'create' ? 'create' : undefined,
  edit: idParam(params, 'edit'),
});

const route = getRouteApi('/signed-in/users');
export const useUsersSearch = () => useSearch<UsersSearch>(route, { dialogs: ['dialog', 'edit'] });

/** What a saved view of the list holds. */
export const usersView = { names: ['search'], read: usersSearch };
