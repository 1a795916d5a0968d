import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { DayField } from '../../ui/DayField.tsx';
import { FilterSelect } from '../../ui/FilterSelect.tsx';
import { SearchSelect } from '../../ui/SearchSelect.tsx';
import { TextFilter } from '../../ui/TextFilter.tsx';
import { isDay } from '../../ui/day.ts';
import { dayProblem } from '../../ui/typed-day.ts';
import { useDebouncedText } from '../../ui/use-debounced-text.ts';
import { auditChoicesQuery } from './queries.ts';
import classes from './audit.module.css';
import { useAuditSearch } from './audit-search.ts';

const typingDelay = 300;

/** The Filters panel: user, record, event and days, all kept in the URL. */
export function AuditFilters() {
  const { search, change } = useAuditSearch();
  const { data } = useQuery(auditChoicesQuery);
  const users = (data?.users ?? []).map((user) => ({ value: user.user_id, label: user.user_email }));
  return (
    <section className={`panel ${classes.filters}`} aria-label="Filters">
      <SearchSelect
        label="User"
        placeholder="Anyone"
        clearable
        nothingFound="No user with this name"
        data={withChosen(users, search.userId)}
        value={search.userId ?? null}
        onChange={(userId) => change({ userId: userId ?? undefined })}
      />
      <FilterSelect
        label="Resource Type"
        placeholder="Any"
        choices={withChosen(asChoices(data?.resourceTypes), search.resourceType)}
        value={search.resourceType}
        onChange={(resourceType) => change({ resourceType })}
      />
      <TextFilter
        label="Resource ID"
        placeholder="Any"
        maxLength={200}
        value={search.resourceId}
        onChange={(resourceId) => change({ resourceId })}
      />
      <SearchSelect
        label="Event Type"
        placeholder="Any"
        clearable
        nothingFound="No such event"
        data={withChosen(asChoices(data?.eventTypes), search.eventType)}
        value={search.eventType ?? null}
        onChange={(eventType) => change({ eventType: eventType ?? undefined })}
      />
      <FilterSelect
        label="Status"
        placeholder="Any"
        choices={[
          { value: 'success', label: 'Success' },
          { value: 'failed', label: 'Failed' },
        ]}
        value={search.status}
        onChange={(status) => change({ status })}
      />
      <DayFilter name="from" label="From" />
      <DayFilter name="to" label="To" notBefore={search.from} />
    </section>
  );
}

/** Filters by a complete date; an incomplete one stays in the field and leaves the list unchanged. */
function DayFilter(props: { name: 'from' | 'to'; label: string; notBefore?: string | undefined }) {
  const { name, label, notBefore } = props;
  const { search, change } = useAuditSearch();
  const [isLeft, setIsLeft] = useState(false);
  const { typed, type } = useDebouncedText({
    value: search[name] ?? '',
    onChange: (text) => {
      if (text === '' || isDay(text)) change({ [name]: text || undefined });
    },
    delay: typingDelay,
  });
  const isBefore = notBefore !== undefined && isDay(typed) && typed < notBefore;
  return (
    <DayField
      label={label}
      value={typed}
      error={isLeft && (dayProblem(typed) ?? (isBefore && 'Lies before From'))}
      onChange={(text) => {
        setIsLeft(false);
        type(text);
      }}
      onBlur={() => setIsLeft(true)}
    />
  );
}

type Choice = { value: string; label: string };

const asChoices = (values: string[] = []): Choice[] => values.map((value) => ({ value, label: value }));

/** Keeps the value of a link selected while the options load, and when the log no longer has it. */
const withChosen = (choices: Choice[], chosen: string | undefined): Choice[] =>
  chosen === undefined || choices.some(({ value }) => value === chosen)
    ? choices
    : [...choices, { value: chosen, label: chosen }];
