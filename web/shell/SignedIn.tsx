import { Outlet, useLocation, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useAuth } from '../session.tsx';
import { ErrorBoundary } from './ErrorBoundary.tsx';
import { Layout } from './Layout.tsx';
import { RestoringSpinner } from './RestoringSpinner.tsx';

/** Everything behind the sign-in: waits for the session, and leaves when it is over. */
export function SignedIn() {
  const { isAuthenticated, loading } = useAuth();
  const path = useLocation({ select: (location) => location.pathname });
  if (!isAuthenticated) return <LeaveForSignIn />;
  if (loading) return <RestoringSpinner />;
  return (
    <Layout>
      <ErrorBoundary key={path}>
        <Outlet />
      </ErrorBoundary>
    </Layout>
  );
}

/** Lets the guard of the routes decide anew: it knows the way to the sign-in page and back. */
function LeaveForSignIn() {
  const router = useRouter();
  useEffect(() => void router.invalidate(), [router]);
  return <RestoringSpinner />;
}
