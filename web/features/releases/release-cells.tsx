import type { Platform } from '../../../contract/builds.ts';
import type { Release } from '../../../contract/releases.ts';
import type { Channel } from '../../../contract/versions.ts';
import { RecordLink } from '../../shell/RecordLink.tsx';
import { ShareBar } from '../../ui/ShareBar.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { IconBrandApple, IconBrandWindows, IconDeviceDesktop } from '../../ui/icons.tsx';
import { buildText, channelTones, shortPlatformText } from './release-labels.ts';
import classes from './releases.module.css';

const platformIcons = { win32: IconBrandWindows, darwin: IconBrandApple, linux: IconDeviceDesktop };

function PlatformIcon({ platform }: { platform: Platform }) {
  const Icon = platformIcons[platform];
  return <Icon size={16} stroke={1.5} />;
}

/** `kind` distinguishes it from another file of the same version for the same machines. */
export function PlatformCell(props: { release: Release; kind: string | undefined }) {
  const { release, kind } = props;
  return (
    <span className={classes.platform}>
      <PlatformIcon platform={release.platform} />
      <RecordLink
        kind="release"
        id={release.id}
        c="inherit"
        title={`Open the rollout of ${buildText(release)}`}
      >
        {shortPlatformText(release.platform, release.architecture)}
      </RecordLink>
      {kind && <span className="dimmed">.{kind}</span>}
    </span>
  );
}

export const ChannelBadge = ({ channel }: { channel: Channel }) => (
  <StatusBadge tone={channelTones[channel]}>{channel}</StatusBadge>
);

/** Channel, and the badges of a release. */
export function Badges({ release }: { release: Release }) {
  return (
    <span className={classes.badges}>
      <ChannelBadge channel={release.channel} />
      {release.isDraft && <StatusBadge tone="amber">Draft</StatusBadge>}
      {release.isMandatory && <StatusBadge tone="teal">Mandatory</StatusBadge>}
      {!release.isActive && <StatusBadge tone="red">Inactive</StatusBadge>}
      {release.damagedAt && <StatusBadge tone="red">Damaged file</StatusBadge>}
      {release.failuresClaimedAt && <StatusBadge tone="orange">Failures claimed</StatusBadge>}
      {release.pausedAt && <StatusBadge tone="orange">Paused</StatusBadge>}
    </span>
  );
}

/** Rollout percentage of a published release. */
export function RolloutCell({ release }: { release: Release }) {
  const { isDraft, isActive, rolloutPercentage, pausedAt, pausedBy, pauseReason } = release;
  if (isDraft || !isActive) return <span className="dimmed">—</span>;
  if (rolloutPercentage === 100 && !pausedAt) return '100 %';
  return (
    <span
      className={classes.rollout}
      data-paused={pausedAt !== null || undefined}
      title={
        pausedAt ? `Paused ${pausedBy === null ? 'by itself' : `by ${pausedBy}`}: ${pauseReason}` : undefined
      }
    >
      <ShareBar percent={rolloutPercentage} tone={pausedAt ? 'orange' : 'teal'} />
      {rolloutPercentage} %
    </span>
  );
}
