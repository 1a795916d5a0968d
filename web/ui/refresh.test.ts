import { InfiniteQueryObserver, QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { refresh } from './refresh.ts';

test('Refresh asks for all that is shown, and for a list once its older entries on their way came', async () => {
  const client = new QueryClient();
  let asked = 0;
  const figures = new QueryObserver(client, { queryKey: ['figures'], queryFn: () => ++asked });
  const pages: number[] = [];
  let answer = () => {};
  const entries = new InfiniteQueryObserver(client, {
    queryKey: ['entries'],
    queryFn: ({ pageParam }) => {
      pages.push(pageParam);
      return pages.length === 2 ? new Promise<number>((resolve) => (answer = () => resolve(2))) : pageParam;
    },
    initialPageParam: 1,
    getNextPageParam: (last) => last + 1,
  });
  const ends = [figures.subscribe(() => {}), entries.subscribe(() => {})];
  await client.refetchQueries({ type: 'active' }, { cancelRefetch: false });
  expect(asked).toBe(1);
  const older = entries.fetchNextPage();
  const refreshed = refresh(client);
  expect(asked).toBe(2);
  answer();
  expect((await older).data?.pages).toEqual([1, 2]);
  await refreshed;
  expect(asked).toBe(2);
  expect(pages).toEqual([1, 2, 1, 2]);
  for (const end of ends) end();
});
