import { useLocation } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import { useAuth } from '../session.tsx';
import { momentText } from '../ui/time.ts';
import { Brand } from './Brand.tsx';
import classes from './PaperHeader.module.css';

/** At the top of what is printed: from which console and address, when, and by whom. */
export function PaperHeader() {
  const { user } = useAuth();
  const address = useLocation({ select: ({ href }) => location.origin + href });
  const [at, setAt] = useState<string>();
  useEffect(() => {
    const paper = matchMedia('print');
    // now, because the browser does not wait for a later render
    const onChange = () => flushSync(() => setAt(paper.matches ? new Date().toISOString() : undefined));
    paper.addEventListener('change', onChange);
    return () => paper.removeEventListener('change', onChange);
  }, []);
  if (!at) return null;
  return (
    <div className={classes.header}>
      <Brand />
      <p>
        Printed {momentText(at)} by {user?.name || user?.email}
        <br />
        {address}
      </p>
    </div>
  );
}
