import { counted } from '../../ui/counted.ts';
import { kindOf } from '../../../contract/fed-kinds.ts';
import type { DeletedRelease } from '../../../contract/releases.ts';
import { UserLink } from '../../shell/RecordLink.tsx';
import { bytesText } from '../../ui/bytes.ts';
import type { Column } from '../../ui/data-table.ts';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { fullTime, shortDate } from '../../ui/time.ts';
import { deletionTone } from './deletion-tone.ts';
import { ChannelBadge } from './release-cells.tsx';
import { platformText } from '../../platform-text.ts';
import { unusualKind } from './release-labels.ts';
import classes from './trash.module.css';

export const trashColumns: Column<DeletedRelease>[] = [
  {
    id: 'version',
    header: 'Version',
    cell: (release) => (
      <span className={classes.version}>
        {release.version} <ChannelBadge channel={release.channel} />
      </span>
    ),
  },
  {
    id: 'platform',
    header: 'Platform/architecture',
    cell: (release) =>
      [platformText(release.platform, release.architecture), unusualKind(kindOf(release.fileName))]
        .filter(Boolean)
        .join(' '),
  },
  { id: 'fileSize', header: 'Size', align: 'right', cell: (release) => bytesText(release.fileSize) },
  {
    id: 'deletedAt',
    header: 'Deleted',
    width: '40%',
    least: 190,
    cell: (release) => <Deleted release={release} />,
  },
  {
    id: 'daysUntilPermanentDeletion',
    header: 'Time Until Deletion',
    cell: (release) => (
      <StatusBadge tone={deletionTone(release.daysUntilPermanentDeletion)}>
        {counted(release.daysUntilPermanentDeletion, 'day')}
      </StatusBadge>
    ),
  },
];

/** When, by whom, and why. */
function Deleted({ release }: { release: DeletedRelease }) {
  const by = release.deleteUserEmail ?? release.deletedBy;
  return (
    <div className={classes.deleted}>
      <time dateTime={release.deletedAt} title={fullTime(release.deletedAt)}>
        {shortDate(release.deletedAt)}
      </time>
      {by && (
        <span className="dimmed">
          {' '}
          by <UserLink by={by} inherit />
        </span>
      )}
      {release.deletionReason && (
        <div className="dimmed small ellipsis">&quot;{release.deletionReason}&quot;</div>
      )}
    </div>
  );
}
