import { Anchor, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { AuditDetail } from '../../../contract/audit.ts';
import { labelOf } from '../../../contract/text.ts';
import { actorText } from '../../actor-text.ts';
import { LoadError } from '../../LoadError.tsx';
import { UserLink } from '../../shell/RecordLink.tsx';
import { CopyText } from '../../ui/CopyText.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { FormSkeleton } from '../../ui/FormSkeleton.tsx';
import SidePanel from '../../ui/SidePanel.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { momentText } from '../../ui/time.ts';
import { FromLeft, Summary } from './Summary.tsx';
import { eventWord, summaryWords } from './audit-words.ts';
import classes from './audit.module.css';
import { auditEntryQuery, auditListQuery } from './queries.ts';
import { eventTone, rolesText } from './audit-labels.ts';
import FieldChanges from './FieldChanges.tsx';
import { filtersReplaced } from '../../ui/filter-chips.ts';
import { auditChips } from './audit-chips.ts';
import { useAuditSearch } from './audit-search.ts';
import { countText } from '../../ui/numbers.ts';

/** One entry: the changes field by field, and the request that made them. */
export default function EntryDrawer({ id }: { id: string }) {
  const { search, change } = useAuditSearch();
  const entry = useQuery(auditEntryQuery(id));
  const list = useQuery(auditListQuery(search));
  return (
    <SidePanel
      title="Audit Entry"
      ids={list.data?.entries.map(({ audit_id }) => audit_id) ?? []}
      id={id}
      onMove={(next) => change({ entry: next })}
      onClose={() => change({ entry: undefined })}
    >
      {entry.isPending ? (
        <FormSkeleton heights={[22, 22, 22, 22, 22, 22]} />
      ) : entry.isLoadingError ? (
        <LoadError title="The entry could not be loaded" query={entry} record="entry" />
      ) : (
        <Entry entry={entry.data} />
      )}
    </SidePanel>
  );
}

function Entry({ entry }: { entry: AuditDetail }) {
  return (
    <Stack gap="lg">
      <div>
        <StatusBadge tone={eventTone(entry.event_type, entry.success)}>
          {eventWord(entry.event_type)}
        </StatusBadge>{' '}
        {!entry.success && <StatusBadge tone="red">Failed</StatusBadge>}
        <p className={classes.summary}>
          <Summary of={entry} />
        </p>
        {entry.error_message && <p className={classes.failure}>{entry.error_message}</p>}
      </div>
      <FieldChanges
        key={entry.audit_id}
        resource={entry.resource_type}
        before={entry.before}
        after={entry.after}
        records={entry.records}
        stored
      />
      <RequestFacts entry={entry} />
    </Stack>
  );
}

function RequestFacts({ entry }: { entry: AuditDetail }) {
  const { change } = useAuditSearch();
  const { event_type, changes_summary, resource_id, resource_type, seal } = entry;
  const facts: Record<string, React.ReactNode> = {
    When: <time dateTime={entry.timestamp}>{`${momentText(entry.timestamp)} (${entry.timestamp})`}</time>,
    Who: (
      <>
        <UserLink by={actorText(entry.user_email, entry.event_type)} inherit />
        {entry.user_role && `, ${rolesText(entry.user_role)}`}
      </>
    ),
    'Event Type': <CopyText value={event_type} what="event type" />,
    ...(summaryWords(event_type, changes_summary) !== changes_summary && {
      'Stored Summary': <FromLeft>{changes_summary}</FromLeft>,
    }),
    Resource: labelOf(resource_type),
    'Resource ID': resource_id && <CopyText value={resource_id} what="resource id" />,
    Address: entry.ip_address,
    Program: entry.user_agent,
    Call: entry.api_endpoint && <span className="mono">{entry.api_endpoint}</span>,
    'Request ID': entry.request_id && <CopyText value={entry.request_id} what="request id" />,
    'Entry ID': <CopyText value={entry.audit_id} what="entry id" />,
    Seal: seal
      ? `No. ${countText(seal.sequence)} of the chain, ${momentText(seal.sealedAt)}`
      : 'Not sealed yet',
  };
  return (
    <section aria-label="Request">
      <h3 className="heading" style={{ marginBottom: 6 }}>
        Request
      </h3>
      <Facts facts={facts} />
      {resource_id && (
        <Anchor
          component="button"
          type="button"
          mt="sm"
          onClick={() => {
            filtersReplaced();
            change({
              ...auditChips({}).none,
              search: undefined,
              entry: undefined,
              resourceType: resource_type,
              resourceId: resource_id,
            });
          }}
        >
          All changes to this record
        </Anchor>
      )}
    </section>
  );
}
