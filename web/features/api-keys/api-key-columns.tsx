import type { ApiKey } from '../../../contract/api-keys.ts';
import { UserLink } from '../../shell/RecordLink.tsx';
import type { Column } from '../../ui/data-table.ts';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import type { RowActionList } from '../../ui/row-actions.ts';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { fullTime, shortDate } from '../../ui/time.ts';
import { makerNotice, rateText, requestsText, statusNote, statusOf, whyFinal } from './api-key-labels.ts';
import classes from './api-keys.module.css';

export const apiKeyColumns = (now: Date): Column<ApiKey>[] => [
  { id: 'name', header: 'Name', cell: (apiKey) => <Name apiKey={apiKey} /> },
  {
    id: 'status',
    header: 'Status',
    width: 110,
    cell: (apiKey) => <ApiKeyStatus apiKey={apiKey} now={now} />,
  },
  {
    id: 'createdAt',
    header: 'Created',
    width: '20%',
    least: 150,
    cell: (apiKey) => <Created apiKey={apiKey} />,
  },
  { id: 'usage', header: 'Usage', cell: (apiKey) => <Usage apiKey={apiKey} /> },
];

function Name({ apiKey }: { apiKey: ApiKey }) {
  const notice = makerNotice(apiKey);
  return (
    <div className={classes.lines}>
      <span className={classes.first}>
        <span className={`ellipsis ${classes.name}`}>{apiKey.name}</span>
        {apiKey.ipWhitelist.length > 0 && <StatusBadge tone="violet">IP restricted</StatusBadge>}
        {notice && (
          <span title={notice.text}>
            <StatusBadge tone="amber">{notice.badge}</StatusBadge>
          </span>
        )}
      </span>
      <span className="mono dimmed">{apiKey.keyPrefix}</span>
    </div>
  );
}

/** When, and by whom. */
function Created({ apiKey: { createdAt, maker } }: { apiKey: ApiKey }) {
  const by = maker?.email ?? 'Lanyard';
  return (
    <div className={classes.lines}>
      <time dateTime={createdAt} title={fullTime(createdAt)}>
        {shortDate(createdAt)}
      </time>
      <span className="dimmed small ellipsis">
        by <UserLink by={by} inherit />
      </span>
    </div>
  );
}

/** The badge, with a tooltip that explains the status. */
function ApiKeyStatus({ apiKey, now }: { apiKey: ApiKey; now: Date }) {
  const { word, tone } = statusOf(apiKey, now);
  return (
    <span title={statusNote(apiKey)}>
      <StatusBadge tone={tone}>{word}</StatusBadge>
    </span>
  );
}

function Usage({ apiKey }: { apiKey: ApiKey }) {
  return (
    <div className={classes.lines}>
      <span>
        {apiKey.lastUsedAt === null ? (
          'Never used'
        ) : (
          <>
            Last used <RelativeTime value={apiKey.lastUsedAt} />
            {apiKey.lastUsedIp && ` from ${apiKey.lastUsedIp}`}
          </>
        )}
      </span>
      <span className="dimmed small">
        {requestsText(apiKey.totalRequests)} · {rateText(apiKey.rateLimit)}
      </span>
    </div>
  );
}

type Handlers = {
  onView: (key: ApiKey) => void;
  onEdit: ((key: ApiKey) => void) | undefined;
  onRevoke: ((key: ApiKey) => void) | undefined;
};

export function apiKeyActions(apiKey: ApiKey, { onView, onEdit, onRevoke }: Handlers): RowActionList {
  const shared = { inRow: true, reason: whyFinal(apiKey) };
  return [
    { label: 'View', key: 'Enter', inRow: true, run: () => onView(apiKey) },
    onEdit && { ...shared, label: 'Edit', key: 'e', run: () => onEdit(apiKey) },
    onRevoke && { ...shared, label: 'Revoke', key: 'r', danger: true, run: () => onRevoke(apiKey) },
  ];
}
