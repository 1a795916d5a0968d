import { Button, Group, Text } from '@mantine/core';
import { useEffect } from 'react';
import type { audit } from '../../../contract/audit.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import { DisabledReason } from '../../ui/DisabledReason.tsx';
import { IconChevronLeft, IconChevronRight } from '../../ui/icons.tsx';
import { momentText } from '../../ui/time.ts';
import { auditSizes, defaultSize, shownBefore, useAuditSearch } from './audit-search.ts';
import { countText } from '../../ui/numbers.ts';
import { firstPage, lastPage } from '../../ui/Pagination.tsx';
import { Select } from '../../ui/Select.tsx';

const sizes = auditSizes.map((size) => ({ value: String(size), label: `${size} per page` }));

export type AuditPage = RouteAnswer<typeof audit.list>;

/**
 * Pagination. The next page starts after the last entry shown, even when newer entries were written in the meantime. A
 * page that no longer exists (a cleanup, an old link) is replaced by the last one, or by the first where not all are
 * counted.
 */
export function AuditPages(props: { data: AuditPage | undefined; stale: boolean; onNext: () => void }) {
  const { data, stale, onNext } = props;
  const { search, change } = useAuditSearch();
  const [page, size] = [search.page ?? 1, search.size ?? defaultSize];
  const isGone = data !== undefined && !stale && page > 1 && isBeyond(data) && search.shown === undefined;
  useEffect(() => {
    if (!isGone) return;
    const last = data.totalIsExact ? Math.min(Math.ceil(data.total / size), page - 1) : 1;
    change({ page: last > 1 ? last : undefined, after: undefined, shown: undefined }, { replace: true });
  });
  if (!data) return <Group h={30} />;
  const first = shownBefore(search) + 1;
  const last = first + data.entries.length - 1;
  const counted = data.totalIsExact
    ? ` of ${countText(Math.max(data.total, last))} results`
    : data.hasMore
      ? ` of more than ${countText(Math.max(data.total, last))} results`
      : // newer entries may have been written since the first page
        ', the oldest results';
  return (
    <Group justify="space-between" component="nav" aria-label="Pages" mih={30} style={{ flexShrink: 0 }}>
      <Text size="xs" c="dimmed" aria-live="polite" aria-atomic>
        {data.entries.length === 0 && <span className="visually-hidden">No results</span>}
        {data.entries.length > 0 && `Showing ${countText(first)} to ${countText(last)}${counted}`}
        {data.searchedBackTo &&
          `${data.entries.length > 0 ? ', searched' : 'Searched'} back to ${momentText(data.searchedBackTo)}`}
      </Text>
      <Group gap="xs">
        <Select
          className="screen-only"
          aria-label="Entries per page"
          w={125}
          allowDeselect={false}
          data={sizes}
          value={String(size)}
          onChange={(value) => change({ size: Number(value) === defaultSize ? undefined : Number(value) })}
        />
        <DisabledReason reason={page > 1 ? null : firstPage}>
          <Button
            variant="default"
            leftSection={<IconChevronLeft />}
            // the page before in a search in parts is nowhere by its number
            onClick={() => {
              const isNumbered = page > 2 && search.shown === undefined;
              change({ page: isNumbered ? page - 1 : undefined, after: undefined, shown: undefined });
            }}
          >
            Previous
          </Button>
        </DisabledReason>
        <Text size="xs" c="dimmed">
          Page {countText(page)}
        </Text>
        <DisabledReason reason={data.hasMore ? null : lastPage}>
          <Button variant="default" rightSection={<IconChevronRight />} onClick={onNext}>
            Next
          </Button>
        </DisabledReason>
      </Group>
    </Group>
  );
}

/** Not the end of a search in parts, which has no total. */
const isBeyond = ({ entries, searchedBackTo, total, totalIsExact }: AuditPage): boolean =>
  entries.length === 0 && searchedBackTo === null && (total > 0 || totalIsExact);
