import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Advice } from '../../contract/session.ts';
import { paths } from '../paths.ts';
import { useAuth } from '../session.tsx';
import { getSession, sessionStore } from '../session-store.ts';
import { Notice } from './Notice.tsx';

/** The user who chose “Later” in this tab; the next sign-in asks again. */
const key = 'adviceLater';

sessionStore.subscribe(() => {
  if (!getSession()) sessionStorage.removeItem(key);
});

/** Advises to change the initial password and to set up a second factor, until done or postponed. */
export function AdviceNotice() {
  const { user, advice } = useAuth();
  const [postponedBy, setPostponedBy] = useState(() => sessionStorage.getItem(key));
  if (!user || advice.length === 0 || postponedBy === user.userId) return null;
  const postpone = () => {
    sessionStorage.setItem(key, user.userId);
    setPostponedBy(user.userId);
  };
  const later = (
    <>
      <Link to={paths.account}>Account</Link>
      <Button variant="default" size="compact-xs" onClick={postpone}>
        Later
      </Button>
    </>
  );
  return (
    <Notice tone="amber" action={later}>
      {sentenceOf(advice)}
    </Notice>
  );
}

function sentenceOf(advice: readonly Advice[]): string {
  if (!advice.includes('secondFactor'))
    return 'Somebody else set your password: change it to one of your own.';
  if (!advice.includes('password')) return 'You manage users: protect your account with a second factor.';
  return 'Somebody else set your password: change it, and add a second factor, since you manage users.';
}
