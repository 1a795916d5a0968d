import type { SavedView } from '../../../contract/views.ts';
import { queryClient } from '../../query-client.ts';
import type { PaletteSource } from '../../shell/palette-sources.ts';
import { IconBookmark } from '../../ui/icons.tsx';
import { viewsQuery } from './queries.ts';
import { listPaths } from './view-path.ts';

/** Saved views in the command palette. */
const viewsPalette: PaletteSource = {
  group: 'Views',
  icon: IconBookmark,
  resource: undefined,
  find: async (text) => {
    const wanted = text.toLowerCase();
    const views = await queryClient.fetchQuery({ ...viewsQuery(), staleTime: 10_000 });
    return views.filter(({ name }) => name.toLowerCase().includes(wanted)).map(itemOf);
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
