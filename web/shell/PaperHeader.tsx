import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { isIncomplete } from '../printed-list.ts';
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
  const client = useQueryClient();
  const [isMissing] = useState(() => isIncomplete(client));
  return (
    <div className={classes.header}>
      <Brand />
      <p>
        Printed {momentText(at)} by {user?.name || user?.email}
        <br />
        {address}
        {isMissing && (
          <>
            <br />
            <strong>Printed before all of it was loaded: parts are missing.</strong>
          </>
        )}
      </p>
    </div>
  );
}
