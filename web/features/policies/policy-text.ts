import { weekdays, type MaintenanceWindow, type UpdatePolicy } from '../../../contract/policies.ts';
import { capitalize } from '../../../contract/text.ts';
import { counted } from '../../ui/counted.ts';
import { shownDay } from '../../ui/typed-day.ts';

/** What a policy decides, in words; empty if it decides nothing. */
export function policyText(policy: UpdatePolicy): string {
  const { channel, pin, pinForSecurity, deferDays, windows, updatesUntil } = policy;
  const parts = [
    channel && `channel ${channel}`,
    pin && `pinned to ${pin}${pinForSecurity ? ', also for security updates' : ''}`,
    deferDays !== null && (deferDays === 0 ? 'not deferred' : `deferred by ${counted(deferDays, 'day')}`),
    windows !== null &&
      (windows.length === 0 ? 'at any time' : `only ${windows.map(windowText).join(' or ')}`),
    updatesUntil && `until ${shownDay(updatesUntil)}`,
  ].filter((part) => typeof part === 'string' && part !== '');
  return capitalize(parts.join('; '));
}

/** `Mon to Fri 22:00–05:00 (Europe/Berlin)`. */
export const windowText = ({ weekdays: days, from, to, zone }: MaintenanceWindow): string =>
  `${daysText(days)} ${from}–${to}${from === to ? ' the next day' : ''} (${zone})`;

function daysText(days: MaintenanceWindow['weekdays']): string {
  const chosen = weekdays.filter((day) => days.includes(day));
  if (chosen.length === weekdays.length) return 'every day';
  const [first, last] = [chosen[0], chosen.at(-1)];
  const isRow = first && last && weekdays.indexOf(last) - weekdays.indexOf(first) === chosen.length - 1;
  return isRow && chosen.length > 2
    ? `${capitalize(first)} to ${capitalize(last)}`
    : chosen.map(capitalize).join(', ');
}
