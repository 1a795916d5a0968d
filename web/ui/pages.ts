import { countText } from './numbers.ts';

type Pages = { page: number; pageSize: number; total: number; mostSkipped: number | null };

/** How many pages a list has; no more rows than `mostSkipped` can be skipped, where that is limited. */
export function pagesOf({ pageSize, total, mostSkipped }: Omit<Pages, 'page'>): number {
  const reached = mostSkipped === null ? Infinity : Math.floor(mostSkipped / pageSize) + 1;
  return Math.max(1, Math.min(Math.ceil(total / pageSize), reached));
}

/** Which rows of a list a page shows, and how those are found that are on none. */
export function rangeText({ page, ...list }: Pages): string {
  const { pageSize, total } = list;
  const last = Math.min(page * pageSize, total);
  const others = page === pagesOf(list) && last < total ? '; search or export them to see the others' : '';
  return `Showing ${countText((page - 1) * pageSize + 1)} to ${countText(last)} of ${countText(total)} results${others}`;
}
