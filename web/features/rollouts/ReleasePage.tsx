import { Button, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { releaseRefusal, type Release } from '../../../contract/releases.ts';
import { nextStep } from '../../../contract/rollout-plan.ts';
import type { RolloutProgress } from '../../../contract/rollouts.ts';
import { ApiError, messageOf } from '../../api-error.ts';
import { useKept } from '../../kept-work.ts';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { AsOf } from '../../ui/AsOf.tsx';
import { DisabledReason } from '../../ui/DisabledReason.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { Page } from '../../ui/Page.tsx';
import { Scroller } from '../../ui/Scroller.tsx';
import { ErrorState } from '../../ui/states.tsx';
import { Tiles } from '../../ui/Tiles.tsx';
import { Badges, ChangeRelease, platformText, type AskedChange } from '../releases/index.ts';
import { Failures, FromVersions } from './Failures.tsx';
import { History } from './History.tsx';
import { Machines } from './Machines.tsx';
import { PlanCard } from './PlanCard.tsx';
import { historyQuery, progressQuery } from './queries.ts';

const Adoption = lazy(() => import('./Adoption.tsx'));

const route = getRouteApi('/signed-in/releases/$releaseId');

/** Everything about one release: its plan, what became of it on the machines, and what was done to it. */
export function ReleasePage() {
  const { releaseId } = route.useParams();
  const progress = useQuery(progressQuery(releaseId));
  const history = useQuery(historyQuery(releaseId));
  const release = progress.data?.release;
  return (
    <Page
      title={release ? `Release ${release.version}` : 'Release'}
      note={release && <Badges release={release} />}
      back={{ to: paths.releases, label: 'Releases' }}
      actions={
        release && (
          <>
            <AsOf queries={[progress, history]} />
            <Changes release={release} />
          </>
        )
      }
    >
      {progress.isLoadingError ? (
        <ReleaseError error={progress.error} onRetry={() => void progress.refetch()} />
      ) : progress.data ? (
        <Scroller label="Details">
          <Details progress={progress.data} />
          <History history={history} />
        </Scroller>
      ) : (
        <div aria-busy>
          <Skeleton height={150} radius={8} mb="md" />
          <Skeleton height={320} radius={8} />
        </div>
      )}
    </Page>
  );
}

function Details({ progress }: { progress: RolloutProgress }) {
  const { release, figures } = progress;
  const count = (machines: number) => machines.toLocaleString('en');
  return (
    <>
      <PlanCard progress={progress} />
      <Tiles
        label={`Machines, ${platformText(release.platform, release.architecture)}`}
        tiles={{
          Eligible: count(figures.eligible),
          Offered: count(figures.offered),
          Fetched: count(figures.fetched),
          Installed: count(figures.installed),
          Failed: count(figures.failed),
          'Rolled Back': count(figures.rolledBack),
          Silent: progress.guard.figures.silence ? count(progress.guard.figures.silence.silent) : '—',
          'Run It Now': count(figures.running),
        }}
      />
      <Suspense fallback={<Skeleton height={280} radius={8} />}>
        <Adoption progress={progress} />
      </Suspense>
      <Failures failures={progress.failures} />
      <FromVersions fromVersions={progress.fromVersions} />
      <Machines progress={progress} />
    </>
  );
}

function Changes({ release }: { release: Release }) {
  const { can } = useAuth();
  const [asked, setAsked] = useKept<AskedChange>('open: change of a release page');
  const next = nextStep(release);
  const mayRollOut = can.manageRollouts ? null : 'You may not manage rollouts';
  const mayUpdate = can.updateReleases ? null : 'You may not update releases';
  const button = (change: AskedChange['change'], label: string, reason: string | null) => (
    <DisabledReason reason={reason}>
      <Button variant="default" onClick={() => setAsked({ change, release })}>
        {label}
      </Button>
    </DisabledReason>
  );
  return (
    <>
      {release.pausedAt
        ? button('resume', 'Resume', mayRollOut ?? releaseRefusal.resume(release))
        : button('pause', 'Pause', mayRollOut ?? releaseRefusal.pause(release))}
      {button(
        'widen',
        next ? `Widen to ${next.percentage} %` : 'Widen',
        mayRollOut ?? releaseRefusal.widen(release),
      )}
      {button('withdraw', 'Withdraw', mayUpdate ?? releaseRefusal.withdraw(release))}
      <LazyDialogs>{asked && <ChangeRelease {...asked} onClose={() => setAsked(undefined)} />}</LazyDialogs>
    </>
  );
}

function ReleaseError({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  if (error instanceof ApiError && error.status === 404)
    return <ErrorState title="Release not found" message="It may be in the recycle bin, or deleted." />;
  return <ErrorState title="Error loading release" message={messageOf(error)} onRetry={onRetry} />;
}
