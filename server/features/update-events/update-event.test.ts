import { expect, test } from 'vitest';
import { dayMs } from '../../../contract/durations.ts';
import { patience } from '../../../tests/time.ts';
import { activityByMachine, unknownFields, type UpdateEvent } from './update-event.ts';

const checkAt = (at: Date): UpdateEvent => ({
  ...unknownFields,
  eventId: 'unused',
  reported: true,
  proven: false,
  at,
  receivedAt: new Date('2026-11-30T00:00:00Z'),
  machineHash: 'machine',
  type: 'check',
});

test('checks of one machine on very many days are gathered at once', () => {
  const checks = Array.from({ length: 10_000 }, (_, day) => checkAt(new Date(day * dayMs)));
  const begun = performance.now();
  const [machine] = activityByMachine([...checks, ...checks.slice(-1)]);
  expect(performance.now() - begun).toBeLessThan(patience(1000));
  expect(machine).toMatchObject({ checks: 10_001 });
  expect([...machine!.checkDays].slice(-2)).toEqual([
    ['1997-05-17', 1],
    ['1997-05-18', 2],
  ]);
});
