import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import { lazy } from 'react';
import { useOfferedApproval } from '../../approval-store.ts';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { Notice } from '../../shell/Notice.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { requestsQuery } from './queries.ts';

const AskApproval = lazy(() => import('./AskApproval.tsx'));

/** Above every screen: changes that wait for this user's approval, and the offer to ask for the user's own. */
export default function ApprovalsNotice() {
  const refused = useOfferedApproval();
  return (
    <>
      <Waiting />
      <LazyDialogs>{refused && <AskApproval key={refused.requestId} refused={refused} />}</LazyDialogs>
    </>
  );
}

function Waiting() {
  const { can, user, hasPermission } = useAuth();
  const isThere = useLocation({
    select: ({ pathname }) => pathname === paths.approvals || pathname === paths.today,
  });
  const enabled = can.manageRollouts && hasPermission('rollouts', 'read');
  const { data = [] } = useQuery({ ...requestsQuery(), enabled });
  const [latest, ...others] = data.filter(
    ({ state, isOutdated, requestedById }) =>
      state === 'open' && !isOutdated && requestedById !== user?.userId,
  );
  if (!enabled || !latest || isThere) return null;
  return (
    <Notice tone="amber" action={<Link to={paths.approvals}>Review</Link>}>
      <strong>{latest.requestedBy} asks for your approval.</strong> {latest.subject}: {latest.what}.
      {others.length > 0 && ` ${others.length} more wait.`}
    </Notice>
  );
}
