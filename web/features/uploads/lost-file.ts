import { useEffect, useState } from 'react';
import { hasSessionLapsed } from '../../session-store.ts';
import { currentUser } from './upload-session.ts';

const key = 'chosenFile';

/**
 * The name of the file that was selected when the page was reloaded, for the same user in the same tab: the browser
 * does not give the file itself to the new page. `chosen`: the name of the currently selected file.
 */
export function useLostFile(chosen: string | undefined): string | undefined {
  const [lost] = useState(read);
  useEffect(() => {
    if (chosen === undefined) return;
    sessionStorage.setItem(key, JSON.stringify([currentUser(), chosen]));
  }, [chosen]);
  useEffect(
    () => () => {
      if (!hasSessionLapsed()) sessionStorage.removeItem(key);
    },
    [],
  );
  return chosen === undefined ? lost : undefined;
}

function read(): string | undefined {
  const [owner, name] = JSON.parse(sessionStorage.getItem(key) ?? '[]') as string[];
  return owner === currentUser() ? name : undefined;
}
