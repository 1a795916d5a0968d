import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ClockState } from '../../../contract/clock.ts';
import { useKept } from '../../kept-work.ts';
import { noticesQuery } from '../../shell/notices-query.ts';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { lazyPart } from '../../ui/lazy-part.ts';

const ConfirmClock = lazyPart(() => import('./ConfirmClock.tsx'));

/** The clock that may be wrong, if any, a button that asks about it, and its dialog, which stays without the button. */
export function useConfirmClock(className?: string) {
  const { data } = useQuery(noticesQuery);
  const [asked, setAsked] = useKept<ClockState>('open: confirm clock');
  const clock = data?.clock;
  return {
    clock,
    button: clock && (
      <Button variant="default" size="compact-sm" className={className} onClick={() => setAsked(clock)}>
        Confirm Clock
      </Button>
    ),
    dialog: (
      <LazyDialogs>{asked && <ConfirmClock state={asked} onClose={() => setAsked(undefined)} />}</LazyDialogs>
    ),
  };
}

/** For a place that says itself what is wrong with the clock. */
export function ConfirmClockButton({ className }: { className?: string | undefined }) {
  const { button, dialog } = useConfirmClock(className);
  return (
    <>
      {button}
      {dialog}
    </>
  );
}
