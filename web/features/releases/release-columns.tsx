import {
  IconDownload,
  IconHandStop,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconTrash,
  type Icon,
} from '@tabler/icons-react';
import { releaseRefusal, type Release } from '../../../contract/releases.ts';
import { bytesText } from '../../ui/bytes.ts';
import { CopyText } from '../../ui/CopyText.tsx';
import { actionsColumn, type Column } from '../../ui/data-table.ts';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { RowActions, RowButton, RowLink } from '../../ui/RowButton.tsx';
import { Badges, PlatformCell, RolloutCell } from './release-cells.tsx';
import { buildText, kindOf } from './release-labels.ts';
import classes from './releases.module.css';

type Handler = ((release: Release) => void) | undefined;
type Handlers = Record<'onEdit' | 'onPause' | 'onResume' | 'onWithdraw' | 'onDelete', Handler>;

/** Number of characters of a hash that are shown (spec part 2, section 9). */
const hashShown = 8;

/** Columns of the release list, below the heading of their version. */
export const releaseColumns = (handlers: Handlers, severalKinds: ReadonlySet<Release>): Column<Release>[] => [
  {
    id: 'platform',
    header: 'Platform',
    cell: (release) => (
      <PlatformCell
        release={release}
        kind={severalKinds.has(release) ? kindOf(release.fileName) : undefined}
      />
    ),
  },
  { id: 'badges', header: 'Channel', cell: (release) => <Badges release={release} /> },
  { id: 'rollout', header: 'Rollout', cell: (release) => <RolloutCell release={release} /> },
  {
    id: 'releaseNotes',
    header: 'Release Notes',
    width: '34%',
    cell: (release) => (
      <div className={classes.notes} title={release.releaseNotes ?? undefined}>
        {release.releaseNotes}
      </div>
    ),
  },
  { id: 'releaseDate', header: 'Released', cell: (release) => <RelativeTime value={release.releaseDate} /> },
  { id: 'fileSize', header: 'Size', align: 'right', cell: (release) => bytesText(release.fileSize) },
  {
    id: 'sha512',
    header: 'SHA-512',
    cell: (release) => (
      <CopyText value={release.sha512} shown={release.sha512.slice(0, hashShown)} what="SHA-512" />
    ),
  },
  {
    id: 'downloadCount',
    header: 'Downloads',
    align: 'right',
    cell: (release) => release.downloadCount > 0 && release.downloadCount.toLocaleString('en'),
  },
  actionsColumn((release) => <ReleaseActions release={release} {...handlers} />),
];

function ReleaseActions({
  release,
  onEdit,
  onPause,
  onResume,
  onWithdraw,
  onDelete,
}: Handlers & { release: Release }) {
  const build = buildText(release);
  return (
    <RowActions>
      {onEdit && <Action icon={IconPencil} label="Edit" build={build} onClick={() => onEdit(release)} />}
      <RowLink
        icon
        tone="gray"
        data-hint="Download"
        href={release.fileUrl}
        target="_blank"
        rel="noopener noreferrer"
        aria-label={`Download ${build}`}
      >
        <IconDownload size={16} stroke={1.6} />
      </RowLink>
      {onDelete && (
        <Action icon={IconTrash} tone="red" label="Delete" build={build} onClick={() => onDelete(release)} />
      )}
      {onPause && !releaseRefusal.pause(release) && (
        <Action icon={IconPlayerPause} label="Pause" build={build} onClick={() => onPause(release)} />
      )}
      {onResume && !releaseRefusal.resume(release) && (
        <Action icon={IconPlayerPlay} label="Resume" build={build} onClick={() => onResume(release)} />
      )}
      {onWithdraw && !releaseRefusal.withdraw(release) && (
        <Action
          icon={IconHandStop}
          tone="red"
          label="Withdraw"
          build={build}
          onClick={() => onWithdraw(release)}
        />
      )}
    </RowActions>
  );
}

function Action(props: { icon: Icon; tone?: 'red'; label: string; build: string; onClick: () => void }) {
  const { icon: Icon, tone = 'gray', label, build, onClick } = props;
  return (
    <RowButton icon tone={tone} data-hint={label} aria-label={`${label} ${build}`} onClick={onClick}>
      <Icon size={16} stroke={1.6} />
    </RowButton>
  );
}
