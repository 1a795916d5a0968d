import { Button } from '@mantine/core';
import { partsMissing } from '../ui/lazy-part.ts';
import { useStore } from '../ui/store.ts';
import classes from './MissingParts.module.css';

/** Says that a part of the screen could not be loaded, until the page is loaded again. */
export function MissingParts() {
  if (!useStore(partsMissing)) return null;
  // without a network, the browser would replace the page by an error of its own
  const reload = () => navigator.onLine && window.location.reload();
  return (
    <div role="alert" className={`amber-note ${classes.note}`}>
      A part of this page could not be loaded: Lanyard was updated, or the server could not be reached.
      <Button variant="default" size="compact-sm" onClick={reload}>
        Reload page
      </Button>
    </div>
  );
}
