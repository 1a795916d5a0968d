import { viewLists, type SavedView } from '../../../contract/views.ts';
import { queryClient } from '../../query-client.ts';
import { asPreviewed } from '../../role-preview.ts';
import type { PaletteSource } from '../../shell/palette-sources.ts';
import { IconBookmark } from '../../ui/icons.tsx';
import { viewsQuery } from './queries.ts';
import { listPaths } from './view-path.ts';

const permittedViews = asPreviewed<SavedView[]>((views, reads) =>
  views.filter(({ list }) => reads(viewLists[list])),
);

/** Saved views in the command palette. */
const viewsPalette: PaletteSource = {
  group: 'Views',
  icon: IconBookmark,
  resource: undefined,
  find: async (text) => {
    const wanted = text.toLowerCase();
    const views = await queryClient.fetchQuery({ ...viewsQuery(), staleTime: 10_000 });
    return permittedViews(views)
      .filter(({ name }) => name.toLowerCase().includes(wanted))
      .map(itemOf);
  },
};
export default viewsPalette;

const itemOf = ({ id, list, name, query }: SavedView) => ({
  id: `view ${id}`,
  label: name,
  description: `View of ${list}`,
  to: listPaths[list],
  search: { ...Object.fromEntries(new URLSearchParams(query)), view: id },
});
