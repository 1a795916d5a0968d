import { Button } from '@mantine/core';
import { useState } from 'react';
import { messageOf } from '../api-error.ts';
import { requireServer } from '../api.ts';
import { partsMissing } from '../ui/lazy-part.ts';
import { useStore } from '../ui/store.ts';
import classes from './MissingParts.module.css';

const missing =
  'A part of this page could not be loaded: Lanyard was updated, or the server could not be reached.';

/** Says that a part of the screen could not be loaded, until the page is loaded again. */
export function MissingParts() {
  const [message, setMessage] = useState(missing);
  if (!useStore(partsMissing)) return null;
  const reload = () =>
    requireServer().then(
      () => window.location.reload(),
      (error: unknown) => setMessage(messageOf(error, missing)),
    );
  return (
    <div role="alert" className={`amber-note ${classes.note}`}>
      {message}
      <Button variant="default" size="compact-sm" onClick={() => void reload()}>
        Reload page
      </Button>
    </div>
  );
}
