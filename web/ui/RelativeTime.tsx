import { fullTime, relativeTime } from './time.ts';
import { useNow } from './use-now.ts';

/** A point in time as people say it; the exact one on hover. Nothing known: a dash. */
export function RelativeTime({ value }: { value: string | null }) {
  const now = useNow();
  if (value === null) return '—';
  return (
    <time dateTime={value} data-hint={fullTime(value)}>
      {relativeTime(value, now)}
    </time>
  );
}
