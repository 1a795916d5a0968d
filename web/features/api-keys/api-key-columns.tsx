import type { ApiKey } from '../../../contract/api-keys.ts';
import { actionsColumn, type Column } from '../../ui/data-table.ts';
import { DisabledReason } from '../../ui/DisabledReason.tsx';
import { RelativeTime } from '../../ui/RelativeTime.tsx';
import { RowActions, RowButton } from '../../ui/RowButton.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { fullTime, shortDate } from '../../ui/time.ts';
import { makerNotice, rateText, requestsText, statusNote, statusOf, whyFinal } from './api-key-labels.ts';
import classes from './api-keys.module.css';

type Handlers = {
  onView: (key: ApiKey) => void;
  onEdit: ((key: ApiKey) => void) | undefined;
  onRevoke: ((key: ApiKey) => void) | undefined;
};

export const apiKeyColumns = (now: Date, handlers: Handlers): Column<ApiKey>[] => [
  { id: 'name', header: 'Name', cell: (apiKey) => <Name apiKey={apiKey} /> },
  {
    id: 'status',
    header: 'Status',
    width: 110,
    cell: (apiKey) => <ApiKeyStatus apiKey={apiKey} now={now} />,
  },
  { id: 'createdAt', header: 'Created', width: 180, cell: (apiKey) => <Created apiKey={apiKey} /> },
  { id: 'usage', header: 'Usage', cell: (apiKey) => <Usage apiKey={apiKey} /> },
  actionsColumn((apiKey) => <Actions apiKey={apiKey} {...handlers} />),
];

function Name({ apiKey }: { apiKey: ApiKey }) {
  const notice = makerNotice(apiKey);
  return (
    <div className={classes.lines}>
      <span className={classes.first}>
        <span className={classes.name} title={apiKey.name}>
          {apiKey.name}
        </span>
        {apiKey.ipWhitelist.length > 0 && <StatusBadge tone="violet">IP restricted</StatusBadge>}
        {notice && (
          <span title={notice.text}>
            <StatusBadge tone="amber">{notice.badge}</StatusBadge>
          </span>
        )}
      </span>
      <span className={`mono ${classes.second}`}>{apiKey.keyPrefix}</span>
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
      <span className={`${classes.second} ${classes.maker}`} title={by}>
        by {by}
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
      <span className={classes.second}>
        {requestsText(apiKey.totalRequests)} · {rateText(apiKey.rateLimit)}
      </span>
    </div>
  );
}

function Actions({ apiKey, onView, onEdit, onRevoke }: Handlers & { apiKey: ApiKey }) {
  const refusal = whyFinal(apiKey);
  return (
    <RowActions>
      <RowButton onClick={() => onView(apiKey)}>View</RowButton>
      {onEdit && (
        <DisabledReason reason={refusal}>
          <RowButton onClick={() => onEdit(apiKey)}>Edit</RowButton>
        </DisabledReason>
      )}
      {onRevoke && (
        <DisabledReason reason={refusal}>
          <RowButton tone="red" onClick={() => onRevoke(apiKey)}>
            Revoke
          </RowButton>
        </DisabledReason>
      )}
    </RowActions>
  );
}
