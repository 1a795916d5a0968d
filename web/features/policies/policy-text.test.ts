import { expect, test } from 'vitest';
import { noPolicy, weekdays, type MaintenanceWindow } from '../../../contract/policies.ts';
import { policyText } from './policy-text.ts';

const window: MaintenanceWindow = {
  zone: 'Europe/Berlin',
  weekdays: ['mon', 'tue', 'wed'],
  from: '22:00',
  to: '05:00',
};

test.each([
  [{}, ''],
  [{ pinForSecurity: true }, ''],
  [{ channel: 'beta', pin: '4.2.' }, 'Channel beta; pinned to 4.2.'],
  [{ pin: '4.', pinForSecurity: true }, 'Pinned to 4., also for security updates'],
  [{ deferDays: 1 }, 'Deferred by 1 day'],
  [{ deferDays: 0, windows: [] }, 'Not deferred; at any time'],
  [{ updatesUntil: '2026-12-31' }, 'Until 31 Dec 2026'],
  [{ windows: [window] }, 'Only Mon to Wed 22:00–05:00 (Europe/Berlin)'],
  [{ windows: [{ ...window, to: '22:00' }] }, 'Only Mon to Wed 22:00–22:00 the next day (Europe/Berlin)'],
  [
    {
      windows: [
        { ...window, weekdays: [...weekdays] },
        { ...window, weekdays: ['sun', 'sat', 'mon'] },
      ],
    },
    'Only every day 22:00–05:00 (Europe/Berlin) or Mon, Sat, Sun 22:00–05:00 (Europe/Berlin)',
  ],
] as const)('%j in words', (fields, text) =>
  expect(policyText({ ...noPolicy, ...fields } as never)).toBe(text),
);
