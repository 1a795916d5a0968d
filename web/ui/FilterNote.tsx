import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './FilterNote.module.css';

/** Says which part of a list is shown, where no field of the filters does, and leads back to the whole list. */
export function FilterNote({ onClear, children }: { onClear: () => void; children: ReactNode }) {
  return (
    <div role="note" className={classes.note}>
      <span>{children}</span>
      <Button variant="subtle" size="compact-xs" onClick={onClear}>
        Show all
      </Button>
    </div>
  );
}
