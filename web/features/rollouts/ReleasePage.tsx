import { Button, type ButtonProps, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Suspense } from 'react';
import { releaseRefusal } from '../../../contract/release-state.ts';
import { nextStep } from '../../../contract/next-step.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import { historyLength, type RolloutProgress, type rollouts } from '../../../contract/rollouts.ts';
import { HistoryCard } from '../../shell/HistoryCard.tsx';
import { useKept } from '../../kept-work.ts';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { RecordPage } from '../../shell/RecordPage.tsx';
import { DisabledReason } from '../../ui/DisabledReason.tsx';
import { counted } from '../../ui/counted.ts';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { Tiles } from '../../ui/Tiles.tsx';
import { platformText } from '../../platform-text.ts';
import { OwnSummary, RecordHistoryLink } from '../audit/index.ts';
import { Badges, ChangeRelease, EditRelease, type AskedChange } from '../releases/index.ts';
import { Failures, FromVersions } from './Failures.tsx';
import { Machines } from './Machines.tsx';
import { PlanCard } from './PlanCard.tsx';
import { historyQuery, progressQuery } from './queries.ts';
import type { ReleaseSearch } from './release-search.ts';
import { lazyPart } from '../../ui/lazy-part.ts';
import { countText } from '../../ui/numbers.ts';
import { pressOnce } from '../../ui/press-once.ts';
import { useSearch } from '../../use-search.ts';

const Adoption = lazyPart(() => import('./Adoption.tsx'));

const route = getRouteApi('/signed-in/releases/$releaseId');

/** Everything about one release: its plan, what happened to it on the machines, and what was done to it. */
export function ReleasePage() {
  const { releaseId } = route.useParams();
  const progress = useQuery(progressQuery(releaseId));
  const history = useQuery(historyQuery(releaseId));
  const release = progress.data?.release;
  const platform = release && platformText(release.platform, release.architecture);
  return (
    <RecordPage
      what="release"
      query={progress}
      others={[history]}
      back={{ to: paths.releases, label: 'Releases' }}
      whyMissing="It may be in the recycle bin, or deleted."
      title={release && `Release ${release.version}`}
      name={platform}
      // a version has a build for each platform, with a rollout of its own
      note={
        release && (
          <>
            {platform} <Badges release={release} />
          </>
        )
      }
      actions={progress.data && <Changes progress={progress.data} />}
    >
      {(data) => (
        <>
          <Details progress={data} />
          <HistoryCard
            title="History"
            actions={<RecordHistoryLink resourceType="release" resourceId={releaseId} />}
            query={history}
            lines={history.data?.map(lineOf)}
          >
            {history.data?.length === historyLength && (
              <p className="dimmed small">The latest {historyLength} are shown.</p>
            )}
          </HistoryCard>
        </>
      )}
    </RecordPage>
  );
}

const lineOf = ({ event, what, ...line }: RouteAnswer<typeof rollouts.history>[number]) => ({
  ...line,
  what: <OwnSummary event={event} what={what} />,
});

function Details({ progress }: { progress: RolloutProgress }) {
  const { release, figures } = progress;
  const { silence } = progress.guard.figures;
  return (
    <>
      <PlanCard progress={progress} />
      <Tiles
        label={`Machines, ${platformText(release.platform, release.architecture)}`}
        tiles={{
          Eligible: countText(figures.eligible),
          'Held by Policies': countText(figures.held),
          Offered: countText(figures.offered),
          Fetched: countText(figures.fetched),
          Installed: countText(figures.installed),
          Failed: countText(figures.failed),
          'Rolled Back': countText(figures.rolledBack),
          Silent: silence ? `${countText(silence.silent)} of ${countText(silence.taken)}` : '—',
          'Run It Now': countText(figures.running),
        }}
      />
      <Text size="xs" c="dimmed" style={{ marginTop: -6 }}>
        Eligible are the machines of its platform, architecture and channel that run an older version, and
        those that run it. Of these, update policies hold back {counted(figures.held, 'machine')} now. Counted{' '}
        <RelativeTime value={progress.guard.at} />.
      </Text>
      <Suspense fallback={<Skeleton height={280} radius={8} />}>
        <Adoption progress={progress} />
      </Suspense>
      <Failures failures={progress.failures} />
      <FromVersions fromVersions={progress.fromVersions} />
      <Machines progress={progress} />
    </>
  );
}

function Changes({ progress: { release } }: { progress: RolloutProgress }) {
  const { can } = useAuth();
  const { search, change } = useSearch<ReleaseSearch>(route, { dialogs: ['dialog'], inRecord: true });
  const [asked, setAsked] = useKept<AskedChange>('open: change of a release page');
  const next = nextStep(release);
  const mayRollOut = can.manageRollouts ? null : 'You may not manage rollouts';
  const mayUpdate = can.updateReleases ? null : 'You may not update releases';
  const button = (
    what: AskedChange['change'],
    label: string,
    reason: string | null,
    look: ButtonProps = { variant: 'default' },
  ) => (
    <DisabledReason reason={reason}>
      <Button {...look} {...pressOnce(() => setAsked({ change: what, release }))}>
        {label}
      </Button>
    </DisabledReason>
  );
  return (
    <>
      <DisabledReason reason={mayUpdate}>
        <Button variant="default" onClick={() => change({ dialog: 'edit' })}>
          Edit
        </Button>
      </DisabledReason>
      {release.pausedAt
        ? button('resume', 'Resume', mayRollOut ?? releaseRefusal.resume(release))
        : button('pause', 'Pause', mayRollOut ?? releaseRefusal.pause(release))}
      {button(
        'widen',
        next ? `Widen to ${next.percentage} %` : 'Widen',
        mayRollOut ?? releaseRefusal.widen(release),
      )}
      {button('withdraw', 'Withdraw', mayUpdate ?? releaseRefusal.withdraw(release), {
        variant: 'light',
        color: 'red',
      })}
      <LazyDialogs>
        {asked && <ChangeRelease {...asked} onClose={() => setAsked(undefined)} />}
        {search.dialog === 'edit' && can.updateReleases && (
          <EditRelease id={release.id} onClose={() => change({ dialog: undefined })} />
        )}
      </LazyDialogs>
    </>
  );
}
