import { LRUCache } from 'lru-cache';
import { weekdays, type MaintenanceWindow } from '../../../contract/policies.ts';
import { present } from '../../invariants.ts';

/** What the clocks of a zone show: the day of the week, 0 for Monday, and the minute of the day. */
type LocalTime = { day: number; minute: number };

const formats = new Map<string, Intl.DateTimeFormat>();
const dayNames = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
/** Many machines ask in the same minute. */
const known = new LRUCache<string, LocalTime>({ max: 500 });

function localTime(zone: string, instant: Date): LocalTime {
  const key = `${zone} ${Math.floor(instant.getTime() / 60_000)}`;
  const value = known.get(key) ?? readClock(zone, instant);
  known.set(key, value);
  return value;
}

/** By the rules of the zone, never by adding hours: a day has 23, 24 or 25 of them. */
function readClock(zone: string, instant: Date): LocalTime {
  let format = formats.get(zone);
  if (!format) {
    const options = { weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
    format = new Intl.DateTimeFormat('en', { ...options, timeZone: zone });
    formats.set(zone, format);
  }
  const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, value]));
  const { weekday, hour, minute } = parts;
  return { day: dayNames.indexOf(weekday ?? ''), minute: Number(hour) * 60 + Number(minute) };
}

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

/**
 * Whether a window is open at the instant. A window over midnight belongs to the day on which it began. Times that the
 * clocks skip never come; those that they show twice are inside twice.
 */
export const isInWindow = (windows: readonly MaintenanceWindow[], instant: Date): boolean =>
  windows.some((window) => {
    const { day, minute } = localTime(window.zone, instant);
    const [from, to] = [minuteOf(window.from), minuteOf(window.to)];
    const beginsOn = (one: number) => window.weekdays.includes(present(weekdays[(one + 7) % 7], 'modulo 7'));
    if (from < to) return beginsOn(day) && minute >= from && minute < to;
    return (minute >= from && beginsOn(day)) || (minute < to && beginsOn(day - 1));
  });
