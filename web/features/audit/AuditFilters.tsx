import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { labelOf } from '../../../contract/text.ts';
import { DayField } from '../../ui/DayField.tsx';
import { FilterSelect } from '../../ui/FilterSelect.tsx';
import { SearchSelect } from '../../ui/SearchSelect.tsx';
import { TextFilter } from '../../ui/TextFilter.tsx';
import { isDay } from '../../ui/day.ts';
import { compareTexts } from '../../ui/locale.ts';
import { dayProblem } from '../../ui/typed-day.ts';
import { useDebouncedText } from '../../ui/use-debounced-text.ts';
import { auditChoicesQuery } from './queries.ts';
import classes from './audit.module.css';
import { eventWord } from './audit-words.ts';
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
        choices={choicesOf(data?.resourceTypes, search.resourceType, labelOf)}
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
        data={choicesOf(data?.eventTypes, search.eventType, eventWord)}
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
  const { typed, type, leave } = useDebouncedText({
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
      onBlur={() => {
        setIsLeft(true);
        leave();
      }}
    />
  );
}

type Choice = { value: string; label: string };

/** Keeps the value of a link selected while the options load, and when the log no longer has it. */
const withChosen = (choices: Choice[], chosen: string | undefined): Choice[] =>
  chosen === undefined || choices.some(({ value }) => value === chosen)
    ? choices
    : [...choices, { value: chosen, label: chosen }];

/** With the value of a link also when the log no longer has it. */
const choicesOf = (values: string[] = [], chosen: string | undefined, wordOf: (value: string) => string) =>
  [...new Set(chosen ? [...values, chosen] : values)]
    .map((value): Choice => ({ value, label: wordOf(value) }))
    .toSorted((a, b) => compareTexts(a.label, b.label));
