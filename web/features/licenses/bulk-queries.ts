import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { bulkLicenses, type BulkChange } from '../../../contract/license-bulk.ts';
import { call } from '../../api.ts';
import { askedOnce } from '../../query-client.ts';
import type { LicenseListSearch } from './licenses-search.ts';
import { filterOf } from './queries.ts';

/** The licenses that a bulk action is for: those that are ticked, or all that a filter matches. */
export type BulkTarget = { ids: string[] } | { search: LicenseListSearch };

/** What the change would do. */
export const bulkPreviewQuery = (target: BulkTarget, change: BulkChange | undefined) =>
  queryOptions({
    queryKey: ['licenses', 'bulk preview', target, change],
    queryFn: ({ signal }) => {
      if (!change) throw new Error('There is no change to preview');
      const request =
        'ids' in target
          ? { body: { ids: target.ids, change } }
          : { query: filterOf(target.search), body: { change } };
      return call(bulkLicenses.preview, request, { signal });
    },
    enabled: change !== undefined,
    placeholderData: keepPreviousData,
    ...askedOnce,
  });
