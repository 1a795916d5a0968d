import type { RowSelectionState } from '@tanstack/react-table';
import { useState } from 'react';
import type { License } from '../../../contract/licenses.ts';
import type { LicenseListSearch } from './licenses-search.ts';

/** The rows that the user has selected in the current filter and page. */
export function useSelected(search: LicenseListSearch, rows: License[] | undefined) {
  const { dialog: _dialog, edit: _edit, activations: _activations, ...list } = search;
  const here = JSON.stringify(list);
  const [state, setState] = useState<{ of: string; selection: RowSelectionState }>({
    of: here,
    selection: {},
  });
  const selection = state.of === here ? state.selection : {};
  return {
    selection,
    licenses: rows?.filter((row) => selection[row.licenseId]) ?? [],
    select: (next: RowSelectionState) => setState({ of: here, selection: next }),
    clear: () => setState({ of: here, selection: {} }),
  };
}
