import { useState } from 'react';
import type { License } from '../../../contract/licenses.ts';
import type { Selection } from '../../ui/data-table.ts';
import type { LicenseListSearch } from './licenses-search.ts';

const none: Selection = new Set();

/** The rows that the user has selected in the current filter and page, or all that the filter matches. */
export function useSelected(search: LicenseListSearch, rows: License[] | undefined) {
  const { dialog: _dialog, edit: _edit, activations: _activations, view: _view, ...list } = search;
  const here = JSON.stringify(list);
  const [state, setState] = useState<{ of: string; selection: Selection; isAll?: boolean }>({
    of: here,
    selection: none,
  });
  const selection = state.of === here ? state.selection : none;
  const licenses = rows?.filter((row) => selection.has(row.licenseId)) ?? [];
  const isPage = licenses.length > 0 && licenses.length === rows?.length;
  return {
    selection,
    licenses,
    /** Whether each row of the page is selected: only then all licenses may be. */
    isPage,
    isAll: isPage && state.of === here && state.isAll === true,
    select: (next: Selection) => setState({ of: here, selection: next }),
    selectAll: () => setState({ of: here, selection, isAll: true }),
    clear: () => setState({ of: here, selection: none }),
  };
}
