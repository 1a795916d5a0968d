import type { ReactNode } from 'react';
import { Chip } from './FilterChips.tsx';
import classes from './FilterChips.module.css';

/** The filter of a list that has no others: which part of it is shown, with a button that shows all. */
export const FilterNote = ({ onClear, children }: { onClear: () => void; children: ReactNode }) => (
  <div className={classes.chips} role="group" aria-label="Active filters">
    <Chip label={children} removeLabel="Show all" onRemove={onClear} />
  </div>
);
