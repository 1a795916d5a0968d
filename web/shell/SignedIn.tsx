import { Outlet, useLocation, useMatches, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useAuth } from '../session.tsx';
import { ErrorBoundary } from './ErrorBoundary.tsx';
import { Forbidden } from './Forbidden.tsx';
import { Layout } from './Layout.tsx';
import { RestoringSpinner } from './RestoringSpinner.tsx';

/** All screens that require a session: waits for it, and leaves when it ends. */
export function SignedIn() {
  const { isAuthenticated, loading } = useAuth();
  const path = useLocation({ select: (location) => location.pathname });
  useEffect(loadSchemasWhenIdle, []);
  if (!isAuthenticated) return <LeaveForSignIn />;
  if (loading) return <RestoringSpinner />;
  return (
    <Layout>
      <ErrorBoundary key={path}>
        <Permitted />
      </ErrorBoundary>
    </Layout>
  );
}

/** The first form would wait for them; a screen is complete without. */
function loadSchemasWhenIdle(): void {
  const whenIdle = globalThis.requestIdleCallback ?? setTimeout;
  whenIdle(() => void import('../../contract/common.ts'));
}

/** The screen, if its route allows it for this user. */
function Permitted() {
  const { hasPermission } = useAuth();
  const needs = useMatches({ select: (matches) => matches.at(-1)?.staticData.needs });
  if (!needs || needs === 'nothing' || hasPermission(needs.resource, needs.action)) return <Outlet />;
  return <Forbidden needs={needs} />;
}

/** Runs the guard of the routes again, which redirects to the sign-in page and back. */
function LeaveForSignIn() {
  const router = useRouter();
  useEffect(() => void router.invalidate(), [router]);
  return <RestoringSpinner />;
}
