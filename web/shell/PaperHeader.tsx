import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { useAuth } from '../session.tsx';
import { momentText } from '../ui/time.ts';
import { useIsPaper } from '../ui/use-is-paper.ts';
import { Brand } from './Brand.tsx';
import classes from './PaperHeader.module.css';

/** At the top of what is printed: from which console and address, when, and by whom. */
export const PaperHeader = () => useIsPaper() && <Header />;

function Header() {
  const { user } = useAuth();
  const address = useLocation({ select: ({ href }) => location.origin + href });
  const [at] = useState(() => new Date().toISOString());
  const isLoading = useIsLoading();
  return (
    <div className={classes.header}>
      <Brand />
      <p>
        Printed {momentText(at)} by {user?.name || user?.email}
        <br />
        {address}
        {isLoading && (
          <>
            <br />
            <strong>Printed before all of it was loaded: parts are missing.</strong>
          </>
        )}
      </p>
    </div>
  );
}

/** Whether the screen, or something on it, had not been loaded when it was printed. */
function useIsLoading(): boolean {
  const client = useQueryClient();
  const [isLoading] = useState(
    () =>
      document.querySelector('#main h1') === null ||
      client.isFetching({ type: 'active', predicate: ({ state }) => state.data === undefined }) > 0,
  );
  return isLoading;
}
