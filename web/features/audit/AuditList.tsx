import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ListSearch } from '../../list-search.tsx';
import { Loaded } from '../../LoadError.tsx';
import { useAuth } from '../../session.tsx';
import { FilterChips, FilterFields } from '../../ui/FilterChips.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { FilterRow } from '../../ui/Page.tsx';
import { IconFilter } from '../../ui/icons.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { momentText } from '../../ui/time.ts';
import { auditChoicesQuery, auditListQuery } from './queries.ts';
import { auditColumns } from './audit-columns.tsx';
import { AuditFilters } from './AuditFilters.tsx';
import { AuditPages, type AuditPage } from './AuditPages.tsx';
import { ExportButton } from './ExportButton.tsx';
import { openViewOf, Views } from '../views/index.ts';
import { auditChips } from './audit-chips.ts';
import { summaryWords } from './audit-words.ts';
import { auditView, shownBefore, useAuditSearch } from './audit-search.ts';

/** Spec part 2, section 5. */
const searchDelay = 300;

/** Search, filters, table and pages of the audit log. */
export function AuditList() {
  const { search, change } = useAuditSearch();
  const { can } = useAuth();
  const list = useQuery(auditListQuery(search));
  const filters = auditChips(search, usePeople(search.userId));
  const viewed = { list: 'audit', search, params: auditView } as const;
  // the exact time has no field
  const count = filters.chips.filter(({ name }) => name !== 'since').length;
  const [panel, setPanel] = useState(count > 0);
  // a cursor of the page before would be taken for that of this page
  const goOn = () => {
    if (!list.data || list.isPlaceholderData) return;
    const { entries, nextCursor } = list.data;
    const next = { page: (search.page ?? 1) + 1, after: nextCursor ?? undefined, shown: undefined };
    const shown = shownBefore(search) + entries.length;
    change(shown === shownBefore({ ...search, ...next }) ? next : { ...next, shown });
  };
  return (
    <>
      <FilterRow
        left={
          <>
            <ListSearch
              search={search}
              change={change}
              placeholder="Search audit logs..."
              delay={searchDelay}
            />
            <Button
              variant="default"
              leftSection={<IconFilter />}
              aria-expanded={panel}
              onClick={() => setPanel(!panel)}
            >
              Filters{count > 0 && ` (${count})`}
            </Button>
          </>
        }
        right={
          <>
            <Views {...viewed} />
            {can.exportAudit && <ExportButton search={search} />}
          </>
        }
      />
      <FilterFields>{panel && <AuditFilters />}</FilterFields>
      <FilterChips {...filters} before={openViewOf(viewed)} change={change} />
      <Loaded query={list} title="Failed to load audit logs">
        <DataTable
          label="Audit entries"
          columns={auditColumns((id) => change({ entry: id }))}
          rows={list.data?.entries}
          rowId={(entry) => entry.audit_id}
          rowLabel={(entry) => summaryWords(entry.event_type, entry.changes_summary)}
          onOpen={(entry) => change({ entry: entry.audit_id })}
          stale={list.isPlaceholderData}
          empty={<NoEntries data={list.data} onNext={goOn} />}
        />
        <AuditPages data={list.data} stale={list.isPlaceholderData} onNext={goOn} />
      </Loaded>
    </>
  );
}

/** Emails of those who are in the log, by their ids. */
function usePeople(chosen: string | undefined): Map<string, string> {
  const { data } = useQuery({ ...auditChoicesQuery, enabled: chosen !== undefined });
  return new Map(data?.users.map((user) => [user.user_id, user.user_email]));
}

function NoEntries({ data, onNext }: { data: AuditPage | undefined; onNext: () => void }) {
  const { search, change } = useAuditSearch();
  if (data?.searchedBackTo) {
    return (
      <EmptyState
        title={`Nothing found back to ${momentText(data.searchedBackTo)}`}
        action={
          <Button variant="default" onClick={onNext}>
            Search Older Entries
          </Button>
        }
      >
        This search takes long. More letters or a filter make it faster.
      </EmptyState>
    );
  }
  const { chips, none } = auditChips(search);
  const narrowed = search.search !== undefined || chips.length > 0;
  return (
    <EmptyState
      title="No audit logs found"
      onClear={narrowed ? () => change({ ...none, search: undefined }) : undefined}
    >
      {search.from &&
        search.to &&
        search.to < search.from &&
        'No day lies in this range: To lies before From.'}
    </EmptyState>
  );
}
