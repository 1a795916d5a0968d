import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { useEffect } from 'react';
import { dropOffer, useOfferedApproval } from '../../approval-store.ts';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { Notice } from '../../shell/Notice.tsx';
import { noticesQuery } from '../../shell/notices-query.ts';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { lazyPart } from '../../ui/lazy-part.ts';
import { ScreenLink } from '../../ui/ScreenLink.tsx';
import { withTimes } from '../../ui/time.ts';

const AskApproval = lazyPart(() => import('./AskApproval.tsx'));

/** Above every screen: changes that wait for this user's approval, and the offer to ask for the user's own. */
export function ApprovalsNotice() {
  const refused = useOfferedApproval();
  useEffect(() => dropOffer, []);
  return (
    <>
      <Waiting />
      <LazyDialogs>{refused && <AskApproval key={refused.requestId} refused={refused} />}</LazyDialogs>
    </>
  );
}

function Waiting() {
  const { can } = useAuth();
  const isThere = useLocation({
    select: ({ pathname }) => pathname === paths.approvals || pathname === paths.today,
  });
  const { data } = useQuery(noticesQuery);
  const [latest, ...others] = data?.approvals ?? [];
  if (!latest || isThere || !can.manageRollouts) return null;
  return (
    <Notice
      tone="amber"
      action={
        <ScreenLink to={paths.approvals} unstyled>
          Review
        </ScreenLink>
      }
    >
      <strong>{latest.requestedBy} asks for your approval.</strong> {latest.subject}: {withTimes(latest.what)}
      .{others.length > 0 && ` ${others.length} more wait.`}
    </Notice>
  );
}
