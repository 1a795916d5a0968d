import { Button, Group, Text } from '@mantine/core';
import { useEffect } from 'react';
import { DisabledReason } from './DisabledReason.tsx';
import { IconChevronLeft, IconChevronRight } from './icons.tsx';
import { countText } from './numbers.ts';
import { pagesOf, rangeText } from './pages.ts';

/** Why there is none before, or after. */
export const [firstPage, lastPage] = ['This is the first page.', 'This is the last page.'];

/**
 * The footer of a list: the range that is shown, and the other pages. Pages count from 1; a page that no longer exists
 * (its last row was deleted, an old link) is replaced by the last one.
 */
export function Pagination(props: {
  /** Name of the landmark, where a screen has several lists with pages. */
  label?: string | undefined;
  page: number;
  pageSize: number;
  total: number | undefined;
  /** Whether `total` is that of another search, shown until the answer comes: it says nothing about the page. */
  stale: boolean;
  /** How many rows the service skips at most, or null where that has no limit: the pages end there. */
  mostSkipped: number | null;
  /** Replaces the history entry, because Back must not lead to a page that no longer exists. */
  onPage: (page: number, how: { replace: boolean }) => void;
}) {
  const { label = 'Pages', page, pageSize, total, stale, mostSkipped, onPage } = props;
  const pages = pagesOf({ pageSize, total: total ?? 0, mostSkipped });
  const isGone = total !== undefined && page > pages;
  useEffect(() => {
    if (isGone && !stale) onPage(pages, { replace: true });
  });

  if (total === undefined || isGone) return <Group h={30} />;
  // An empty list has its own message, which is only said in short.
  const isEmpty = total === 0;
  return (
    <Group justify="space-between" component="nav" aria-label={label} mih={30} style={{ flexShrink: 0 }}>
      {/* stays while a list is empty, or what it says next would not be announced */}
      <Text size="xs" c="dimmed" aria-live="polite" aria-atomic>
        {!isEmpty && rangeText({ page, pageSize, total, mostSkipped })}
        {isEmpty && <span className="visually-hidden">No results</span>}
      </Text>
      {!isEmpty && (
        <Group gap="xs">
          <Text size="xs" c="dimmed">
            Page {countText(page)} of {countText(pages)}
          </Text>
          {/* not disabled: the one that was just pressed would lose the focus */}
          <DisabledReason reason={page > 1 ? null : firstPage}>
            <Button
              variant="default"
              px={8}
              aria-label="Previous page"
              onClick={() => onPage(page - 1, { replace: false })}
            >
              <IconChevronLeft />
            </Button>
          </DisabledReason>
          <DisabledReason reason={page < pages ? null : lastPage}>
            <Button
              variant="default"
              px={8}
              aria-label="Next page"
              onClick={() => onPage(page + 1, { replace: false })}
            >
              <IconChevronRight />
            </Button>
          </DisabledReason>
        </Group>
      )}
    </Group>
  );
}
