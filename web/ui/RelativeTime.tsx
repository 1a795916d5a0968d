import { fullTime, momentText, relativeTime } from './time.ts';
import { useIsPaper } from './use-is-paper.ts';
import { useNow } from './use-now.ts';

/** A relative time, with the exact one on hover, and in its place on paper; a dash if it is unknown. */
export function RelativeTime({ value }: { value: string | null }) {
  const now = useNow();
  const isPaper = useIsPaper();
  if (value === null) return '—';
  return (
    <time dateTime={value} data-hint={fullTime(value)}>
      {isPaper ? momentText(value) : relativeTime(value, now)}
    </time>
  );
}

/** The exact time and the relative one: nobody has to hover to get it. */
export function ExactTime({ value }: { value: string }) {
  const now = useNow();
  return (
    <>
      <time dateTime={value}>{momentText(value)}</time>
      <span className="dimmed screen-only"> ({relativeTime(value, now)})</span>
    </>
  );
}
