import { expect, test } from 'vitest';
import { stubBrowser } from '../../../tests/browser.ts';
import { ApiError } from '../../api-error.ts';

stubBrowser();
const { retryOnce } = await import('../../query-client.ts');
const { rolloutDefaultsQuery } = await import('../../plan-suggestion.ts');
const { versionsQuery } = await import('../uploads/release-versions.ts');
const { releaseAnalyticsQuery, releaseListQuery, releaseTrashQuery } = await import('./queries.ts');

test('what is asked about releases is fresh for 5 minutes, and asked once more when it fails', () => {
  for (const { staleTime, retry } of [
    releaseListQuery({}),
    releaseAnalyticsQuery(),
    releaseTrashQuery({}),
    rolloutDefaultsQuery(),
    versionsQuery('win32', 'stable'),
  ]) {
    expect(staleTime).toBe(300_000);
    expect(retry).toBe(retryOnce);
  }
  const failed = new ApiError(503, 'x');
  expect([retryOnce(0, failed), retryOnce(1, failed)]).toEqual([true, false]);
  expect(retryOnce(0, new ApiError(403, 'x'))).toBe(false);
});

test('the bin is asked for its first page of 20, unless another is wanted', () => {
  expect(releaseTrashQuery({}).queryKey[1]).toMatchObject({ query: { page: '1', pageSize: '20' } });
  expect(releaseTrashQuery({ page: 3 }).queryKey[1]).toMatchObject({ query: { page: '3', pageSize: '20' } });
});

test('inactive releases are asked for only when they are to be shown', () => {
  expect(releaseListQuery({}).queryKey[1]).toMatchObject({ query: { showInactive: 'false' } });
  expect(releaseListQuery({ inactive: '1' }).queryKey[1]).toMatchObject({ query: { showInactive: 'true' } });
});
