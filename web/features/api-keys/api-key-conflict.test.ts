import { expect, test } from 'vitest';
import { ApiError } from '../../api-error.ts';
import { fullTime } from '../../ui/time.ts';
import { conflictRows } from './api-key-conflict.ts';

const [soon, late] = ['2027-01-01T00:00:00.000Z', '2028-01-01T00:00:00.000Z'];
const differing = (path: string, current: unknown, yours: unknown) => ({
  path,
  message: 'differs',
  current,
  yours,
});

test('says what differs, in words', () => {
  const conflict = new ApiError(409, 'Changed', {
    code: 'EDIT_CONFLICT',
    details: [
      differing('name', 'PACS', 'RIS'),
      differing('isActive', false, true),
      differing('expiresAt', null, late),
      differing('rateLimit', 1000, 5),
      differing('ipWhitelist', ['10.0.0.0/8', '::1'], []),
      differing('scopes', ['updates'], ['validate', 'releases']),
      differing('updatedAt', soon, late),
    ],
  });
  expect(conflictRows(conflict)).toEqual([
    { field: 'Name', theirs: 'PACS', yours: 'RIS' },
    { field: 'Status', theirs: 'Inactive', yours: 'Active' },
    { field: 'Expiration Date', theirs: 'Never', yours: fullTime(late) },
    { field: 'Rate Limit', theirs: '1,000 per hour', yours: '5 per hour' },
    { field: 'IP Whitelist', theirs: '10.0.0.0/8, ::1', yours: 'None' },
    { field: 'Scopes', theirs: 'Updates', yours: 'Validate licenses, Publish releases' },
  ]);
});
