import { useState } from 'react';
import type { License } from '../../../contract/licenses.ts';
import type { Selection } from '../../ui/data-table.ts';
import type { LicenseListSearch } from './licenses-search.ts';

const none: Selection = new Set();

/** The rows that the user has selected in the current filter and page. */
export function useSelected(search: LicenseListSearch, rows: License[] | undefined) {
  const { dialog: _dialog, edit: _edit, activations: _activations, ...list } = search;
  const here = JSON.stringify(list);
  const [state, setState] = useState<{ of: string; selection: Selection }>({ of: here, selection: none });
  const selection = state.of === here ? state.selection : none;
  return {
    selection,
    licenses: rows?.filter((row) => selection.has(row.licenseId)) ?? [],
    select: (next: Selection) => setState({ of: here, selection: next }),
    clear: () => setState({ of: here, selection: none }),
  };
}
