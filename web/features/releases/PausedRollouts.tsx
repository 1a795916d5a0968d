import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { releaseRefusal } from '../../../contract/release-state.ts';
import type { Release } from '../../../contract/releases.ts';
import { useKept } from '../../kept-work.ts';
import { useAuth } from '../../session.tsx';
import { RecordLink, UserLink } from '../../shell/RecordLink.tsx';
import { noticesQuery } from '../../shell/notices-query.ts';
import { DisabledReason } from '../../ui/DisabledReason.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { IconPlayerPause } from '../../ui/icons.tsx';
import { LazyChangeRelease, type AskedChange } from './lazy.ts';
import { buildText } from './release-labels.ts';
import classes from './releases.module.css';

/** Paused rollouts, regardless of the filters of the list, with who paused them and why. */
export function PausedRollouts() {
  const { data } = useQuery(noticesQuery);
  const [asked, setAsked] = useKept<AskedChange>('open: change paused release');
  return (
    <>
      {data?.paused.map((release) => (
        <PausedRollout
          key={release.id}
          release={release}
          onResume={() => setAsked({ change: 'resume', release })}
          onWithdraw={() => setAsked({ change: 'withdraw', release })}
        />
      ))}
      <LazyDialogs>
        {asked && <LazyChangeRelease {...asked} onClose={() => setAsked(undefined)} />}
      </LazyDialogs>
    </>
  );
}

function PausedRollout(props: { release: Release; onResume: () => void; onWithdraw: () => void }) {
  const { release, onResume, onWithdraw } = props;
  const { can } = useAuth();
  const mayUpdate = can.updateReleases ? null : 'You may not update releases';
  return (
    <section className={classes.paused} aria-label={`Rollout of ${buildText(release)} paused`}>
      <IconPlayerPause size={18} stroke={1.5} className={classes.pausedIcon} />
      <div className={classes.pausedText}>
        <strong>
          Rollout of{' '}
          <RecordLink kind="release" id={release.id} inherit c="inherit">
            {buildText(release)}
          </RecordLink>{' '}
          is paused at {release.rolloutPercentage} %
        </strong>
        <div>
          {release.pauseReason?.replace(/\.?$/, '.')} Paused{' '}
          {release.pausedBy !== null && (
            <>
              by <UserLink by={release.pausedBy} inherit c="inherit" />{' '}
            </>
          )}
          <RelativeTime value={release.pausedAt} />.
        </div>
      </div>
      <Group gap="xs" wrap="nowrap">
        <DisabledReason reason={can.manageRollouts ? null : 'You may not manage rollouts'}>
          <Button variant="default" onClick={onResume}>
            Resume
          </Button>
        </DisabledReason>
        <DisabledReason reason={mayUpdate ?? releaseRefusal.withdraw(release)}>
          <Button variant="default" onClick={onWithdraw}>
            Withdraw
          </Button>
        </DisabledReason>
      </Group>
    </section>
  );
}
