import { Anchor } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { TimelineEntry } from '../../../contract/customer-page.ts';
import { HistoryCard, type HistoryLine } from '../../HistoryCard.tsx';
import { OlderButton } from '../../OlderButton.tsx';
import { paths } from '../../paths.ts';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { timelineQuery } from './queries.ts';

const lineOf = ({ id, at, by, what, success }: TimelineEntry): HistoryLine => ({
  id,
  at,
  by,
  what: (
    <>
      <Anchor renderRoot={(root) => <Link {...root} to={paths.audit} search={{ entry: id }} />} c="inherit">
        {what}
      </Anchor>{' '}
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
