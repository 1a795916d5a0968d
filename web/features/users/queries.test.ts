import { expect, test } from 'vitest';
import { stubBrowser } from '../../../tests/browser.ts';

stubBrowser();
const { rolesQuery } = await import('./queries.ts');

test('the roles are kept for 10 minutes', () =>
  expect(rolesQuery).toMatchObject({ staleTime: 600_000, gcTime: 600_000 }));
