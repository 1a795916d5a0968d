import { useState } from 'react';
import type { Selection } from './data-table.ts';

const none: Selection = new Set();

/**
 * The selected rows of a list, and how to select others. Another filter or page ends the selection for good; a row that
 * leaves the list is not selected when it comes back. `ids`: of the rows, undefined until they have loaded.
 */
export function useSelection(
  filter: object,
  ids: readonly string[] | undefined,
): [Selection, (next: Selection) => void] {
  const here = JSON.stringify(filter);
  const [state, setState] = useState({ of: here, selection: none });
  const shown = state.of === here ? state.selection : none;
  const left = ids ? new Set(ids.filter((id) => shown.has(id))) : shown;
  const selection = left.size < shown.size ? left : shown;
  if (state.of !== here || selection !== shown) setState({ of: here, selection });
  return [selection, (next) => setState({ of: here, selection: next })];
}
