import { useEffect, useRef } from 'react';
import type { Release } from '../../../contract/releases.ts';
import { messageOf } from '../../api-error.ts';
import { conflictOf } from '../../edit-conflict.ts';
import { useAuth } from '../../session.tsx';
import { useChange } from '../../use-change.ts';
import { payloadOf, rolloutAfter, rolloutOnPublishing, type ReleaseValues } from './release-form.ts';
import { setRollout, updateRelease } from './releases.ts';

type Change = { values: ReleaseValues; updatedAt?: string | undefined };

/** How long the banner that says so stands before the dialog closes. */
const bannerFor = 1200;

/** Saves what was edited; a rollout that changed follows in a call of its own (spec part 2, section 4). */
export function useSaveRelease(seen: Release, onClose: () => void) {
  const { can } = useAuth();
  // When the first call succeeds and the second does not, the next try starts from what is stored by then.
  const stored = useRef(seen);
  const save = useChange({
    mutationFn: async ({ values, updatedAt = stored.current.updatedAt }: Change) => {
      const rollout = can.manageRollouts ? rolloutOnPublishing(values, stored.current) : {};
      stored.current = await updateRelease(seen.id, { ...payloadOf(values), ...rollout, updatedAt });
      if (!can.manageRollouts) return;
      const percentage = rolloutAfter(values, stored.current.rolloutPercentage);
      if (percentage !== undefined) stored.current = await setRollout(seen.id, percentage);
    },
    onError: (error) => console.warn('Release could not be saved:', messageOf(error)),
  });
  useCloseAfter(save.isSuccess, onClose);

  const conflict = conflictOf(save.error);
  const mine = save.variables?.values;
  return { save, conflict, again: (updatedAt?: string) => mine && save.mutate({ values: mine, updatedAt }) };
}

function useCloseAfter(done: boolean, onClose: () => void): void {
  const latest = useRef(onClose);
  useEffect(() => {
    latest.current = onClose;
  });
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => latest.current(), bannerFor);
    return () => clearTimeout(timer);
  }, [done]);
}
