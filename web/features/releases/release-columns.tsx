import { kindOf } from '../../../contract/fed-kinds.ts';
import type { Release } from '../../../contract/releases.ts';
import { bytesText } from '../../ui/bytes.ts';
import { CopyText } from '../../ui/CopyText.tsx';
import type { Column } from '../../ui/data-table.ts';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { Badges, PlatformCell, RolloutCell } from './release-cells.tsx';
import { buildText } from './release-labels.ts';
import classes from './releases.module.css';
import { countText } from '../../ui/numbers.ts';

/** Number of characters of a hash that are shown (spec part 2, section 9). */
const hashShown = 8;

/** Columns of the release list, below the heading of their version. */
export const releaseColumns = (severalKinds: ReadonlySet<Release>): Column<Release>[] => [
  {
    id: 'platform',
    header: 'Platform',
    name: buildText,
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
    least: 136,
    cell: (release) => <div className={classes.notes}>{release.releaseNotes}</div>,
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
    cell: (release) => release.downloadCount > 0 && countText(release.downloadCount),
  },
];
