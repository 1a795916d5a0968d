import { expect, test, vi } from 'vitest';
import { ApiError } from './api-error.ts';

vi.stubGlobal('window', { addEventListener: () => undefined });
const { InfiniteQueryObserver, QueryObserver, onlineManager } = await import('@tanstack/react-query');
const { queryClient, retryDelay, shouldRetry } = await import('./query-client.ts');

test('waits 1 s, then twice as long each time, at most 30 s', () => {
  expect([0, 1, 2, 3, 4, 5, 6].map(retryDelay)).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
});

test('asks again three times, but not what was refused', () => {
  expect([0, 2, 3].map((failures) => shouldRetry(failures, new ApiError(503, 'x')))).toEqual([
    true,
    true,
    false,
  ]);
  expect(shouldRetry(0, new ApiError(404, 'x'))).toBe(false);
  expect(shouldRetry(0, new ApiError(0, 'no answer'))).toBe(true);
});

test('forgets what nothing on the screen has used for 5 minutes', () => {
  expect(queryClient.getDefaultOptions().queries).toMatchObject({
    gcTime: 300_000,
    retry: shouldRetry,
    retryDelay,
  });
});

test('without a network, a call fails in place of waiting for it', async () => {
  onlineManager.setOnline(false);
  const queryFn = () => Promise.reject(new ApiError(404, 'x'));
  await expect(queryClient.fetchQuery({ queryKey: ['x'], queryFn })).rejects.toThrow('x');
  onlineManager.setOnline(true);
});

test('after a change, all that is shown is asked for again, and a list once older entries on their way came', async () => {
  const pages: number[] = [];
  let answer = () => {};
  const entries = new InfiniteQueryObserver(queryClient, {
    queryKey: ['entries'],
    queryFn: ({ pageParam }) => {
      pages.push(pageParam);
      return pages.length === 2 ? new Promise<number>((resolve) => (answer = () => resolve(2))) : pageParam;
    },
    initialPageParam: 1,
    getNextPageParam: (last) => last + 1,
  });
  let asked = 0;
  const figures = new QueryObserver(queryClient, { queryKey: ['figures'], queryFn: () => ++asked });
  const ends = [entries.subscribe(() => {}), figures.subscribe(() => {})];
  await vi.waitFor(() => expect(entries.getCurrentResult().data?.pages).toEqual([1]));
  await vi.waitFor(() => expect(asked).toBe(1));
  const older = entries.fetchNextPage();
  await queryClient
    .getMutationCache()
    .build(queryClient, { mutationFn: async () => 'done' })
    .execute(undefined);
  await vi.waitFor(() => expect(asked).toBe(2));
  answer();
  expect((await older).data?.pages).toEqual([1, 2]);
  await vi.waitFor(() => expect(pages).toEqual([1, 2, 1, 2]));
  expect(asked).toBe(2);
  for (const end of ends) end();
});
