import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { Notice } from '../../shell/Notice.tsx';
import { RecordLink } from '../../shell/RecordLink.tsx';
import { noticesQuery } from '../../shell/notices-query.ts';
import { ScreenLink } from '../../ui/ScreenLink.tsx';
import { buildText } from './release-labels.ts';

/**
 * Rollouts that paused themselves, above every screen, since no user would know otherwise. The screens of the
 * releases and of the day show them, and those that staff paused; the page of a release says it of this one.
 */
export function PausedNotice() {
  const { can } = useAuth();
  const pathname = useLocation({ select: (location) => location.pathname });
  const { data } = useQuery(noticesQuery);
  const [latest, ...others] = (data?.paused ?? []).filter(
    ({ id, pausedBy }) => pausedBy === null && pathname !== `${paths.releases}/${id}`,
  );
  if (!latest || !can.viewReleases || pathname === paths.releases || pathname === paths.today) return null;
  return (
    <Notice
      tone="orange"
      action={
        <ScreenLink to={paths.releases} unstyled>
          View releases
        </ScreenLink>
      }
    >
      <strong>
        Rollout of{' '}
        <RecordLink kind="release" id={latest.id} inherit c="inherit">
          {buildText(latest)}
        </RecordLink>{' '}
        paused itself at {latest.rolloutPercentage} %.
      </strong>{' '}
      {latest.pauseReason}
      {others.length > 0 && ` ${others.length} more paused themselves.`}
    </Notice>
  );
}
