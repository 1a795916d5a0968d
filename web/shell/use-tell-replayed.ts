import { useEffect } from 'react';
import { replays } from '../api.ts';
import { toast } from '../ui/toast.tsx';

/** Says when a request was repeated that had been done: somebody may have changed it since, and its answer is the old one. */
export function useTellReplayed(): void {
  useEffect(
    () =>
      replays.subscribe(() => {
        const done = 'This was done before, by an attempt whose answer was lost.';
        const look = 'Check that it still applies: somebody may have changed it since.';
        void toast({ message: `${done} ${look}`, subject: { name: '' } });
      }),
    [],
  );
}
