import { weekdays, type MaintenanceWindow } from '../contract/policies.ts';
import { capitalize } from '../contract/text.ts';

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
