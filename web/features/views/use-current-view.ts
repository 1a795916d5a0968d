import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { SavedView, ViewList } from '../../../contract/views.ts';
import { filtersReplaced } from '../../ui/filter-chips.ts';
import { viewsQuery } from './queries.ts';
import { listPaths } from './view-path.ts';
import { writeQuery, readQuery, type ViewParams } from './view-query.ts';

/** The list of a view menu: its search parameters, and those of them that a view holds. */
export type ViewedList = {
  list: ViewList;
  search: Record<string, unknown> & { view?: string | undefined };
  params: ViewParams;
};

/** The views of a list, the open one, and whether the filters are its own. */
export function useCurrentView({ list, search, params }: ViewedList) {
  const navigate = useNavigate();
  const to = listPaths[list];
  const { data: views = [], isSuccess, isFetching, refetch } = useQuery(viewsQuery(list));
  const current = views.find(({ id }) => id === search.view);
  // once the list was asked for because of it: one that was just made comes with it, and later it is asked for again
  const [missing, setMissing] = useState<string>();
  if (isSuccess && !isFetching && !current && missing !== search.view) setMissing(search.view);
  const query = writeQuery(params.read(search), params);
  const go = (next: Record<string, unknown>) => void navigate({ to, search: next } as never);
  return {
    views,
    current,
    /** The URL names a view that the user does not see. */
    isMissing: !current && missing !== undefined && missing === search.view,
    query,
    /** Whether these are the filters of a view, in whichever version. */
    shows: (view: SavedView) => writeQuery(readQuery(view.query, params).search, params) === query,
    lost: current ? readQuery(current.query, params).lost : [],
    /** Others may have shared or deleted views meanwhile. */
    refresh: () => void refetch(),
    /** Replaces the filters by those of the view. */
    open: (view: SavedView) => {
      filtersReplaced();
      go({ ...readQuery(view.query, params).search, view: view.id });
    },
    /** Keeps the filters, without the view; another one that was opened meanwhile stays. */
    leave: ({ id }: { id: string | undefined }) => {
      const without = ({ view, ...filters }: ViewedList['search']) =>
        view === id ? filters : { view, ...filters };
      void navigate({ to, search: without } as never);
    },
  };
}
