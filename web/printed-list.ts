import { useIsPaper } from './ui/use-is-paper.ts';

type Page = { data: readonly unknown[]; meta: { total: number } };

/** Rows of a list on paper; the line with the pages says of how many. */
export const mostPrinted = 500;

/**
 * Options of the query of all rows of a list that is in a page of a record. It is loaded once its first page is there,
 * because a browser that prints does not wait, and does not poll.
 */
export const forPaper = (page: Page | undefined) => ({
  enabled: page !== undefined && page.meta.total > page.data.length,
  refetchInterval: false as const,
});

/** All rows while the page is printed, if they have been loaded. */
export function usePrinted<List extends Page>(whole: {
  data: List | undefined;
  isPlaceholderData: boolean;
}): List | undefined {
  return useIsPaper() && !whole.isPlaceholderData ? whole.data : undefined;
}
