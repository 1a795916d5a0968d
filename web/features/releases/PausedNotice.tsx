import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { Notice } from '../../shell/Notice.tsx';
import { buildText } from './release-labels.ts';
import { pausedReleasesQuery } from './queries.ts';

/**
 * Rollouts that paused themselves, above every screen, since no user would know otherwise. The screen of the releases
 * shows more about them, and those that staff paused.
 */
export default function PausedNotice() {
  const { can } = useAuth();
  const isOnReleases = useLocation({ select: ({ pathname }) => pathname === paths.releases });
  const { data } = useQuery({ ...pausedReleasesQuery(), enabled: can.viewReleases });
  const [latest, ...others] = (data ?? [])
    .filter((release) => release.pausedBy === null)
    .toSorted((a, b) => (b.pausedAt ?? '').localeCompare(a.pausedAt ?? ''));
  if (!latest || isOnReleases) return null;
  return (
    <Notice tone="orange" action={<Link to={paths.releases}>View releases</Link>}>
      <strong>
        Rollout of {buildText(latest)} paused itself at {latest.rolloutPercentage} %.
      </strong>{' '}
      {latest.pauseReason}
      {others.length > 0 && ` ${others.length} more paused themselves.`}
    </Notice>
  );
}
