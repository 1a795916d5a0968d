import type { UseQueryResult } from '@tanstack/react-query';
import type { ChangeSearch } from './use-search.ts';
import { Pagination } from './ui/Pagination.tsx';
import { SearchBox } from './ui/SearchBox.tsx';

/** A page of records: how many there are is `totalCount` in the recycle bin of releases (spec part 2, section 3). */
type Counted = { meta: { total: number } } | { totalCount: number };
type Search = { search?: string | undefined; page?: number | undefined };

/** The search field of a list, whose text is in the URL. */
export function ListSearch(props: {
  search: Pick<Search, 'search'>;
  change: ChangeSearch<Pick<Search, 'search'>>;
  placeholder: string;
  delay?: number;
  read?: (text: string) => string;
}) {
  const { search, change, ...field } = props;
  const setText = (text: string) => change({ search: text || undefined });
  return <SearchBox {...field} value={search.search ?? ''} onChange={setText} />;
}

/** The pages of a list, whose number is in the URL. */
export function ListPages(props: {
  search: Pick<Search, 'page'>;
  change: ChangeSearch<Pick<Search, 'page'>>;
  label?: string;
  pageSize: number;
  list: Pick<UseQueryResult<Counted>, 'data' | 'isPlaceholderData'>;
  mostSkipped: number | null;
}) {
  const { search, change, list, ...shown } = props;
  const { data } = list;
  return (
    <Pagination
      {...shown}
      total={data && ('meta' in data ? data.meta.total : data.totalCount)}
      stale={list.isPlaceholderData}
      page={search.page ?? 1}
      onPage={(page, how) => change({ page: page > 1 ? page : undefined }, how)}
    />
  );
}
