import { retryOnce } from './query-client.ts';

/** Options of queries about releases (spec part 2, section 9): cached 5 minutes, 1 retry. */
export const asReleases = { staleTime: 5 * 60_000, retry: retryOnce };
