import { views as calls } from '../../../contract/views.ts';
import type { Context } from '../../context.ts';
import { inChange, implement } from '../../http/call.ts';
import { createView, deleteView, listViews, restoreView, updateView } from './views.ts';

export const viewRoutes = ({ db }: Pick<Context, 'db'>) =>
  implement(calls, {
    list: ({ by, query }) => listViews(db, by, query.list),
    create: inChange((change, { body }) => createView(change, body)),
    update: inChange((change, { params, body, seen }) => updateView(change, params.id, body, seen)),
    delete: inChange((change, { params }) => deleteView(change, params.id)),
    restore: inChange((change, { params }) => restoreView(change, params.id)),
  });
