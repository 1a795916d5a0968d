import type { DeletedRelease } from '../../../contract/releases.ts';
import { bytesText } from '../../ui/bytes.ts';
import type { Column } from '../../ui/data-table.ts';
import { DisabledReason } from '../../ui/DisabledReason.tsx';
import { RowActions, RowButton } from '../../ui/RowButton.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { fullTime, shortDate } from '../../ui/time.ts';
import { daysText, deletionTone } from './deletion-tone.ts';
import { ChannelBadge } from './release-cells.tsx';
import { kindOf, platformText, unusualKind } from './release-labels.ts';
import classes from './trash.module.css';

type Handlers = {
  onRestore: (release: DeletedRelease) => void;
  onDelete: (release: DeletedRelease) => void;
  whyNot: string | null;
};

export const trashColumns = (handlers: Handlers): Column<DeletedRelease>[] => [
  {
    accessorKey: 'version',
    header: 'Version',
    cell: ({ row }) => (
      <span className={classes.version}>
        {row.original.version} <ChannelBadge channel={row.original.channel} />
      </span>
    ),
  },
  {
    id: 'platform',
    header: 'Platform/architecture',
    cell: ({ row }) =>
      [
        platformText(row.original.platform, row.original.architecture),
        unusualKind(kindOf(row.original.fileName)),
      ]
        .filter(Boolean)
        .join(' '),
  },
  {
    accessorKey: 'fileSize',
    header: 'Size',
    meta: { align: 'right' },
    cell: ({ row }) => bytesText(row.original.fileSize),
  },
  {
    accessorKey: 'deletedAt',
    header: 'Deleted',
    meta: { width: '40%' },
    cell: ({ row }) => <Deleted release={row.original} />,
  },
  {
    accessorKey: 'daysUntilPermanentDeletion',
    header: 'Time Until Deletion',
    cell: ({ row }) => (
      <StatusBadge tone={deletionTone(row.original.daysUntilPermanentDeletion)}>
        {daysText(row.original.daysUntilPermanentDeletion)}
      </StatusBadge>
    ),
  },
  {
    id: 'actions',
    header: 'Actions',
    meta: { width: 1, pinned: true },
    cell: ({ row }) => <TrashActions release={row.original} {...handlers} />,
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
      {by && <span className={classes.by}> by {by}</span>}
      {release.deletionReason && (
        <div className={classes.reason} title={release.deletionReason}>
          &quot;{release.deletionReason}&quot;
        </div>
      )}
    </div>
  );
}

function TrashActions({ release, onRestore, onDelete, whyNot }: Handlers & { release: DeletedRelease }) {
  return (
    <RowActions>
      <DisabledReason reason={whyNot}>
        <RowButton onClick={() => onRestore(release)}>Restore</RowButton>
      </DisabledReason>
      <DisabledReason reason={whyNot}>
        <RowButton tone="red" onClick={() => onDelete(release)}>
          Delete
        </RowButton>
      </DisabledReason>
    </RowActions>
  );
}
