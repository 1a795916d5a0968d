import { MutationCache, QueryClient } from '@tanstack/react-query';
import { ApiError, mayBeDone } from './api-error.ts';
import { offerApproval } from './approval-store.ts';
import { refresh } from './ui/refresh.ts';

const retries = 3;
const unusedFor = 5 * 60_000;
const networkMode = 'always';

/** A refusal is final: only failures of the network or the server are retried. */
export const shouldRetry = (failures: number, error: unknown): boolean =>
  failures < retries && !(error instanceof ApiError && error.status >= 400 && error.status < 500);

/** The same, once. */
export const retryOnce = (failures: number, error: unknown): boolean =>
  failures < 1 && shouldRetry(failures, error);

/** 1 s, 2 s, 4 s … at most 30 s (spec part 1, section 9). */
export const retryDelay = (failures: number): number => Math.min(1000 * 2 ** failures, 30_000);

/** For the data of a confirmation: fetched each time, once, and never again after the change. */
export const askedOnce = { retry: false, gcTime: 0, staleTime: 'static' } as const;

/** For a record that is edited: its `updatedAt` decides whether the edit may be saved. */
export const alwaysFresh = { gcTime: 0, refetchOnWindowFocus: false } as const;

export const queryClient: QueryClient = new QueryClient({
  // Lists refresh after each change (spec part 1, section 7): all queries, so that none is missed.
  mutationCache: new MutationCache({
    onSuccess: () => void refresh(queryClient),
    // 409, 404: another user was faster, so the data on the screen is out of date.
    onError: (error) => {
      offerApproval(error);
      if (mayBeDone(error) || (error instanceof ApiError && [404, 409].includes(error.status)))
        void refresh(queryClient);
    },
  }),
  // without a network, a failure is said, in place of waiting for it in silence
  defaultOptions: {
    queries: { retry: shouldRetry, retryDelay, gcTime: unusedFor, networkMode, refetchOnReconnect: true },
    mutations: { networkMode },
  },
});
