import { useQuery } from '@tanstack/react-query';
import { Outlet, useMatches, useRouter } from '@tanstack/react-router';
import { Suspense, useEffect, useState } from 'react';
import { lackedOf } from '../contract/permissions.ts';
import { ApprovalsNotice } from './features/approvals/ApprovalsNotice.tsx';
import { ClockNotice } from './features/clock/ClockNotice.tsx';
import { PausedNotice } from './features/releases/PausedNotice.tsx';
import { StorageNotice } from './features/releases/StorageNotice.tsx';
import { uploadsWanted } from './features/uploads/uploads-wanted.ts';
import { KeptRights } from './KeptRights.tsx';
import { useAuth } from './session.tsx';
import { Forbidden } from './shell/Forbidden.tsx';
import { Layout } from './shell/Layout.tsx';
import { noticesQuery } from './shell/notices-query.ts';
import { RestoringSpinner } from './shell/RestoringSpinner.tsx';
import { Screen } from './shell/Screen.tsx';
import { lazyPart } from './ui/lazy-part.ts';
import { useStore } from './ui/store.ts';

/** The most urgent first: of several, the others are folded away. */
const ofFeatures = (
  <>
    <StorageNotice />
    <ClockNotice />
    <PausedNotice />
    <ApprovalsNotice />
  </>
);

const UploadTray = lazyPart(() => import('./features/uploads/UploadTray.tsx'));

/** Uploads continue on every screen. */
function Uploads() {
  const wanted = useStore(uploadsWanted);
  return <Suspense>{wanted && <UploadTray />}</Suspense>;
}

/** How long the first screen waits for its notices: on a slow network they come later. */
const patienceMs = 5000;

/**
 * All screens that require a session: waits for it and for its notices, which would push the screen down, and leaves when
 * it ends.
 */
export function SignedIn() {
  const { isAuthenticated, loading, user } = useAuth();
  const [isReady, setReady] = useState(false);
  const router = useRouter();
  // not while the session is being ended
  const { isLoading, failureCount } = useQuery({
    ...noticesQuery,
    enabled: isAuthenticated && !(isReady && loading),
  });
  useEffect(() => {
    const timer = setTimeout(() => setReady(true), patienceMs);
    return () => clearTimeout(timer);
  }, []);
  // Once, and for one attempt: a screen without notices is better than none, and the preview of a role asks again.
  if (!isReady && !loading && (!isLoading || failureCount > 0)) setReady(true);
  // not that of the location, which changes at once: the screen stays as it is until the next one has loaded
  const path = useMatches({ select: (matches) => matches.at(-1)?.pathname });
  const [firstPath] = useState(path);
  // not after the sign-in form, which had the focus
  const [isFirst, setFirst] = useState(router.state.resolvedLocation === undefined);
  if (isFirst && path !== firstPath) setFirst(false);
  useEffect(() => (isReady ? loadSchemasWhenIdle() : undefined), [isReady]);
  useLeaveByDownload();
  if (!isAuthenticated) return <LeaveForSignIn />;
  if (loading || !isReady) return <RestoringSpinner />;
  return (
    // no form of the user before is left, nor a key that is shown once: another tab may sign somebody else in
    <KeptRights key={user?.userId}>
      <Layout notices={ofFeatures} tray={<Uploads />}>
        <Screen key={path} isFirst={isFirst}>
          <Permitted />
        </Screen>
      </Layout>
    </KeptRights>
  );
}

/** The first form would wait for them; a screen is complete without. */
function loadSchemasWhenIdle(): void {
  const whenIdle = globalThis.requestIdleCallback ?? setTimeout;
  whenIdle(() => void import('../contract/common.ts'));
}

/** The browser makes a download itself, and says nothing when the session has ended: this call finds that out. */
function useLeaveByDownload(): void {
  const { refreshRights } = useAuth();
  useEffect(() => {
    const onClick = ({ target }: MouseEvent) =>
      target instanceof Element && target.closest('a[download][href^="/api/"]') && void refreshRights();
    document.addEventListener('click', onClick);
    return () => document.removeEventListener('click', onClick);
  }, [refreshRights]);
}

/** The screen, if its route allows it for this user. */
function Permitted() {
  const { permissions } = useAuth();
  const needs = useMatches({ select: (matches) => matches.at(-1)?.staticData.needs }) ?? [];
  const [lacked] = lackedOf(permissions, needs);
  return lacked ? <Forbidden lacked={lacked} /> : <Outlet />;
}

/** Runs the guard of the routes again, which redirects to the sign-in page and back. */
function LeaveForSignIn() {
  const router = useRouter();
  useEffect(() => void router.invalidate(), [router]);
  return <RestoringSpinner />;
}
