import { useState } from 'react';
import type { License } from '../../../contract/licenses.ts';
import type { Selection } from '../../ui/data-table.ts';
import { useSelection } from '../../ui/use-selection.ts';
import type { LicenseListSearch } from './licenses-search.ts';

/** The rows that the user has selected in the current filter and page, or all that the filter matches. */
export function useSelected(search: LicenseListSearch, rows: License[] | undefined) {
  const { dialog: _dialog, edit: _edit, activations: _activations, view: _view, ...filter } = search;
  const [selection, select] = useSelection(
    filter,
    rows?.map(({ licenseId }) => licenseId),
  );
  const [widened, setWidened] = useState<Selection>();
  const licenses = rows?.filter((row) => selection.has(row.licenseId)) ?? [];
  const isPage = licenses.length > 0 && licenses.length === rows?.length;
  return {
    selection,
    licenses,
    /** Whether each row of the page is selected: only then all licenses may be. */
    isPage,
    isAll: isPage && widened === selection,
    select,
    selectAll: () => setWidened(selection),
    clear: () => select(new Set()),
  };
}
