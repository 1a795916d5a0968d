import { expect, test, vi } from 'vitest';
import { ApiError } from './api-error.ts';

vi.stubGlobal('window', { addEventListener: () => undefined });
const { onlineManager } = await import('@tanstack/react-query');
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
