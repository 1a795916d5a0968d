import { useInfiniteQuery } from '@tanstack/react-query';
import type { TimelineEntry } from '../../../contract/customer-page.ts';
import { actorText } from '../../actor-text.ts';
import { HistoryCard, type HistoryLine } from '../../shell/HistoryCard.tsx';
import { OlderButton } from '../../OlderButton.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { Summary } from '../audit/index.ts';
import { timelineQuery } from './queries.ts';

const lineOf = ({ id, at, by, event, what, records, success }: TimelineEntry): HistoryLine => ({
  id,
  at,
  by: actorText(by, event),
  what: (
    <>
      <Summary of={{ changes_summary: what, event_type: event, records }} hostNames />{' '}
      {!success && <StatusBadge tone="red">Failed</StatusBadge>}
    </>
  ),
});

/** Everything that was done to the customer and what is theirs, newest first. */
export function Timeline({ customerId }: { customerId: string }) {
  const timeline = useInfiniteQuery(timelineQuery(customerId));
  return (
    <HistoryCard
      title="Timeline"
      query={timeline}
      lines={timeline.data?.pages.flatMap(({ entries }) => entries.map(lineOf))}
    >
      <OlderButton query={timeline} />
    </HistoryCard>
  );
}
