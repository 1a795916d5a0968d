import { Button, Group, Stack } from '@mantine/core';
import type { ApiKey } from '../../../contract/api-keys.ts';
import { useAuth } from '../../session.tsx';
import { UserLink } from '../../shell/RecordLink.tsx';
import { CopyText } from '../../ui/CopyText.tsx';
import { DisabledReason } from '../../ui/DisabledReason.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { IconAlertTriangle } from '../../ui/icons.tsx';
import { fullTime } from '../../ui/time.ts';
import { useNow } from '../../ui/use-now.ts';
import { RecordHistoryLink } from '../audit/index.ts';
import { makerNotice, rateText, scopeLabels, statusNote, statusOf, whyFinal } from './api-key-labels.ts';
import classes from './api-keys.module.css';
import { countText } from '../../ui/numbers.ts';

/** All details of a key; anyone who may see the list may view it. */
export function ApiKeyDetails(props: { apiKey: ApiKey; onEdit: () => void; onClose: () => void }) {
  const { apiKey } = props;
  const { can } = useAuth();
  return (
    <Stack gap="lg">
      <Facts
        facts={{
          Name: apiKey.name,
          'Key Prefix': <CopyText value={apiKey.keyPrefix} what="key prefix" />,
          Status: <Status apiKey={apiKey} />,
          'Total Requests': countText(apiKey.totalRequests),
          Created: fullTime(apiKey.createdAt),
          'Created By': <Maker apiKey={apiKey} />,
          'Last Used': <LastUsed apiKey={apiKey} />,
          Expires: apiKey.expiresAt ? fullTime(apiKey.expiresAt) : 'Never',
          'Rate Limit': rateText(apiKey.rateLimit),
          'IP Whitelist': <Whitelist entries={apiKey.ipWhitelist} />,
          Scopes: apiKey.scopes.map((scope) => scopeLabels[scope].label).join(', '),
        }}
      />
      <Group justify="flex-end" gap="xs">
        <RecordHistoryLink resourceType="api_key" resourceId={apiKey.id} />
        <Button variant="default" onClick={props.onClose}>
          Close
        </Button>
        {can.updateApiKeys && (
          <DisabledReason reason={whyFinal(apiKey)}>
            <Button onClick={props.onEdit}>Edit</Button>
          </DisabledReason>
        )}
      </Group>
    </Stack>
  );
}

function Status({ apiKey }: { apiKey: ApiKey }) {
  const { word, tone } = statusOf(apiKey, useNow());
  const note = apiKey.revokedAt ? `Permanently revoked on ${fullTime(apiKey.revokedAt)}` : statusNote(apiKey);
  return (
    <>
      <StatusBadge tone={tone}>{word}</StatusBadge> {note}
    </>
  );
}

function Maker({ apiKey }: { apiKey: ApiKey }) {
  const notice = makerNotice(apiKey);
  return (
    <>
      <UserLink by={apiKey.maker?.email ?? 'Lanyard'} />
      {notice && (
        <p role="note" className={`${classes.warning} ${classes.ofMaker}`}>
          <IconAlertTriangle size={16} />
          {notice.text}
        </p>
      )}
    </>
  );
}

function LastUsed({ apiKey: { lastUsedAt, lastUsedIp } }: { apiKey: ApiKey }) {
  if (lastUsedAt === null) return 'Never';
  return (
    <>
      {fullTime(lastUsedAt)}
      {lastUsedIp && (
        <>
          {' '}
          from <span className="mono">{lastUsedIp}</span>
        </>
      )}
    </>
  );
}

function Whitelist({ entries }: { entries: string[] }) {
  if (entries.length === 0) return 'None: every address may use the key';
  return (
    <ul className="plain-list short-list">
      {entries.map((entry) => (
        <li key={entry} className="mono">
          {entry}
        </li>
      ))}
    </ul>
  );
}
