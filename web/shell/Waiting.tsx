import { useIsFetching, useIsMutating } from '@tanstack/react-query';
import { useRouterState } from '@tanstack/react-router';
import { slowParts } from '../ui/lazy-part.ts';
import { useStore } from '../ui/store.ts';
import classes from './Waiting.module.css';

/**
 * Says that the server has not answered yet: after a moment where a screen, dialog or menu does not open, and after some
 * seconds where data or a change is waited for, which shows its own placeholder or spinner until then.
 */
export function Waiting() {
  const isOpening = useRouterState({ select: ({ isLoading }) => isLoading });
  const isSlow = useStore(slowParts) > 0;
  const calls = useIsFetching() + useIsMutating();
  const look = isSlow ? 'part' : isOpening ? 'screen' : calls > 0 && 'call';
  return (
    look && (
      <div key={look} role="status" className={classes[look]}>
        Waiting for the server…
      </div>
    )
  );
}
