import { useState } from 'react';
import type { Selection } from './data-table.ts';

const none: Selection = new Set();

/** The selected rows of a list, and how to select others. Under another filter, or on another page, none are, nor later. */
export function useSelection(filter: object): [Selection, (next: Selection) => void] {
  const here = JSON.stringify(filter);
  const [state, setState] = useState({ of: here, selection: none });
  if (state.of !== here) setState({ of: here, selection: none });
  return [state.of === here ? state.selection : none, (selection) => setState({ of: here, selection })];
}
