import type { SavedView, ViewList } from '../../../contract/views.ts';
import { paths } from '../../paths.ts';

export const listPaths: Record<ViewList, string> = {
  licenses: paths.licenses,
  customers: paths.customers,
  releases: paths.releases,
  machines: paths.machines,
  users: paths.users,
  audit: paths.audit,
};

/** What a toast about a view names, with the URL that opens it. */
export const aboutView = ({ id, list, name, query }: Pick<SavedView, 'id' | 'list' | 'name' | 'query'>) => ({
  name,
  to: `${listPaths[list]}?${new URLSearchParams([...new URLSearchParams(query), ['view', id]])}`,
  id,
});
