import { fullTime, relativeTime } from './time.ts';
import { useNow } from './use-now.ts';

/** A relative time, with the exact one on hover; a dash if it is unknown. */
export function RelativeTime({ value }: { value: string | null }) {
  const now = useNow();
  if (value === null) return '—';
  return (
    <time dateTime={value} data-hint={fullTime(value)}>
      {relativeTime(value, now)}
    </time>
  );
}
