import { Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { auditChoicesQuery } from './audit-calls.ts';
import classes from './audit.module.css';
import { useAuditSearch } from './use-audit-search.ts';

const settlesAfter = 300;

/** The Filters panel: person, record, event and days. All of it is in the address. */
export function AuditFilters() {
  const { search, change } = useAuditSearch();
  const { data } = useQuery(auditChoicesQuery);
  const people = (data?.users ?? []).map((user) => ({ value: user.user_id, label: user.user_email }));
  return (
    <section className={classes.filters} aria-label="Filters">
      <Select
        label="Person"
        placeholder="Anyone"
        searchable
        clearable
        nothingFoundMessage="Nobody of that name"
        data={withChosen(people, search.userId)}
        value={search.userId ?? null}
        onChange={(userId) => change({ userId: userId ?? undefined })}
      />
      <Select
        label="Resource Type"
        placeholder="Any"
        clearable
        data={withChosen(asChoices(data?.resourceTypes), search.resourceType)}
        value={search.resourceType ?? null}
        onChange={(resourceType) => change({ resourceType: resourceType ?? undefined })}
      />
      <ResourceId key={search.resourceId ?? ''} />
      <Select
        label="Event Type"
        placeholder="Any"
        searchable
        clearable
        nothingFoundMessage="No such event"
        data={withChosen(asChoices(data?.eventTypes), search.eventType)}
        value={search.eventType ?? null}
        onChange={(eventType) => change({ eventType: eventType ?? undefined })}
      />
      <TextInput
        label="From"
        type="date"
        max={search.to}
        value={search.from ?? ''}
        onChange={(event) => change({ from: event.currentTarget.value || undefined })}
      />
      <TextInput
        label="To"
        type="date"
        min={search.from}
        value={search.to ?? ''}
        onChange={(event) => change({ to: event.currentTarget.value || undefined })}
      />
    </section>
  );
}

/** Asked for when typing settles. */
function ResourceId() {
  const { search, change } = useAuditSearch();
  const [typed, setTyped] = useState(search.resourceId ?? '');
  const settle = useDebouncedCallback(
    (text: string) => change({ resourceId: text.trim() || undefined }, { typing: true }),
    settlesAfter,
  );
  return (
    <TextInput
      label="Resource ID"
      placeholder="Any"
      maxLength={200}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        settle(event.currentTarget.value);
      }}
    />
  );
}

type Choice = { value: string; label: string };

const asChoices = (values: string[] = []): Choice[] => values.map((value) => ({ value, label: value }));

/** What a link asks for stays chosen, also while the choices load or when the log has none of it any more. */
const withChosen = (choices: Choice[], chosen: string | undefined): Choice[] =>
  chosen === undefined || choices.some(({ value }) => value === chosen)
    ? choices
    : [...choices, { value: chosen, label: chosen }];
