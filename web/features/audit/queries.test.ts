import { expect, test } from 'vitest';
import { stubBrowser } from '../../../tests/browser.ts';

stubBrowser();
const { auditListQuery } = await import('./queries.ts');

test('a page is fresh for 30 seconds and kept for 5 minutes', () =>
  expect(auditListQuery({})).toMatchObject({ staleTime: 30_000, gcTime: 300_000 }));
