import { MutationCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './api-error.ts';

const retries = 3;
const unusedFor = 5 * 60_000;

/** What was refused stays refused: only a fault of the network or the server is worth asking again. */
export const shouldRetry = (failures: number, error: unknown): boolean =>
  failures < retries && !(error instanceof ApiError && error.status >= 400 && error.status < 500);

/** 1 s, 2 s, 4 s … at most 30 s (spec part 1, section 9). */
export const retryDelay = (failures: number): number => Math.min(1000 * 2 ** failures, 30_000);

/** For what a question says before a change: asked anew each time, once, and never again after the change. */
export const askedOnce = { retry: false, gcTime: 0, staleTime: 'static' } as const;

export const queryClient: QueryClient = new QueryClient({
  // Lists refresh after each change (spec part 1, section 7): all that is on the screen, so that none is forgotten.
  mutationCache: new MutationCache({
    onSuccess: () => void queryClient.invalidateQueries(),
    // 409: somebody else was quicker, so what is shown is old.
    onError: (error) =>
      void (error instanceof ApiError && error.status === 409 && queryClient.invalidateQueries()),
  }),
  defaultOptions: { queries: { retry: shouldRetry, retryDelay, gcTime: unusedFor } },
});
