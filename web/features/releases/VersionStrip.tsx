import { Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Release } from '../../../contract/releases.ts';
import type { RolloutSummary } from '../../../contract/rollouts.ts';
import { releaseRefusal } from '../../../contract/release-state.ts';
import { nextStep } from '../../../contract/next-step.ts';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { RowButton } from '../../ui/RowButton.tsx';
import { ShareBar } from '../../ui/ShareBar.tsx';
import { summariesQuery } from './queries.ts';
import { buildText, shortPlatformText } from './release-labels.ts';
import { machinesOf } from './version-groups.ts';
import { countText } from '../../ui/numbers.ts';
import classes from './releases.module.css';

/**
 * Beside the heading of a version: how many of the machines that could run it do, how many of them policies hold back
 * now, how many failed, and the next step of each of its builds, which `onWiden` takes at once.
 */
export function VersionStrip(props: {
  releases: readonly Release[];
  shown: readonly Release[];
  onWiden: ((release: Release) => void) | undefined;
}) {
  const { releases, shown, onWiden } = props;
  const { data } = useQuery(summariesQuery(shown.map(({ id }) => id)));
  const published = releases.filter(({ isDraft }) => !isDraft);
  const strips = published.flatMap(({ id, platform, architecture }) => {
    const strip = data?.find(({ releaseId }) => releaseId === id);
    return strip ? [{ ...strip, platform, architecture }] : [];
  });
  if (strips.length === 0) return null;
  const { running, eligible, held } = machinesOf(strips);
  const failed = strips.reduce((all, one) => all + one.failed, 0);
  return (
    <Group gap={10} component="span" className={classes.strip}>
      {eligible > 0 && <ShareBar percent={(running / eligible) * 100} tone="teal" />}
      <Text span size="xs" c="dimmed">
        {[
          eligible > 0 && `${countText(running)} of ${countText(eligible)}`,
          held > 0 && `${countText(held)} held by policies`,
          failed > 0 && `${countText(failed)} failed`,
        ]
          .filter(Boolean)
          .join(', ')}
      </Text>
      {published.map((release) => (
        <Next
          key={release.id}
          release={release}
          hiddenBy={strips.find(({ releaseId }) => releaseId === release.id)?.hiddenBy}
          isOnly={published.length === 1}
          onWiden={onWiden}
        />
      ))}
    </Group>
  );
}

function Next(props: {
  release: Release;
  hiddenBy: RolloutSummary['hiddenBy'] | undefined;
  isOnly: boolean;
  onWiden: ((release: Release) => void) | undefined;
}) {
  const { release, hiddenBy, isOnly, onWiden } = props;
  const next = nextStep(release);
  if (!next || releaseRefusal.widen(release) !== null) return null;
  const { platform, architecture } = release;
  return (
    <Text span size="xs" c="dimmed">
      {!isOnly && `${shortPlatformText(platform, architecture)}: `}
      {next.percentage} %{' '}
      {hiddenBy ? `waits for ${hiddenBy.version}` : next.dueAt && <RelativeTime value={next.dueAt} />}{' '}
      {onWiden && (
        <RowButton aria-label={`Widen ${buildText(release)}`} onClick={() => onWiden(release)}>
          Widen
        </RowButton>
      )}
    </Text>
  );
}
