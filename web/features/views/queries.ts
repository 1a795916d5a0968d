import type { RouteRequest } from '../../../contract/route.ts';
import { views, type ViewList } from '../../../contract/views.ts';
import { call } from '../../api.ts';
import { queryOf } from '../../query-of.ts';

/** The views of a list that the user sees; of all lists without `list`. */
export const viewsQuery = (list?: ViewList) => queryOf(views.list, { query: list ? { list } : {} });

export const createView = (body: RouteRequest<typeof views.create>['body']) => call(views.create, { body });
export const updateView = (id: string, body: RouteRequest<typeof views.update>['body']) =>
  call(views.update, { params: { id }, body });
export const deleteView = (id: string) => call(views.delete, { params: { id } });
export const restoreView = (id: string) => call(views.restore, { params: { id } });
