import { today as calls } from '../../../contract/today.ts';
import { implement } from '../../http/call.ts';
import { createToday, type TodayParts } from './today.ts';

export function todayRoutes(parts: TodayParts) {
  const today = createToday(parts);
  return implement(calls, { get: ({ by }) => today(by) });
}
