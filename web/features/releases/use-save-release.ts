import { useEffect, useEffectEvent, useRef, useState } from 'react';
import type { Release } from '../../../contract/releases.ts';
import { messageOf } from '../../api-error.ts';
import { useWhenAsked } from '../../approval-store.ts';
import { useEdit } from '../../edit-conflict.ts';
import { isSame } from '../../merge-edits.ts';
import { percentageOf } from '../../release-form.ts';
import { useAuth } from '../../session.tsx';
import {
  payloadOf,
  planAfter,
  rolloutAfter,
  rolloutOnPublishing,
  valuesOf,
  type ReleaseValues,
} from './release-form.ts';
import { setPlan, setRollout, updateRelease } from './queries.ts';

/** How long the success banner is shown before the dialog closes, in milliseconds. */
const bannerFor = 1200;

/** Saves the edit; a changed rollout follows in a separate call (spec part 2, section 4). */
export function useSaveRelease(seen: Release, onClose: () => void) {
  const { can } = useAuth();
  const [saved, setSaved] = useState(false);
  // When the first call succeeds and the second fails, the next attempt starts from the record that is stored by then.
  const stored = useRef(seen);
  const chosen = useRef(valuesOf(seen));
  const edit = useEdit({
    save: async (payload: ReturnType<typeof payloadOf>, updatedAt) => {
      const rollout = can.manageRollouts ? rolloutOnPublishing(chosen.current, stored.current) : {};
      stored.current = await updateRelease(seen.id, { ...payload, ...rollout, updatedAt });
      // A user who did not change the rollout must not overwrite a concurrent change of it.
      const { rolloutPercentage, plan } = chosen.current;
      const before = valuesOf(seen);
      const isTouched =
        percentageOf(rolloutPercentage) !== seen.rolloutPercentage || !isSame(plan, before.plan);
      if (!can.manageRollouts || !isTouched) return;
      const percentage = rolloutAfter(chosen.current, stored.current);
      const steps = planAfter(chosen.current, stored.current);
      if (percentage !== undefined) stored.current = await setRollout(seen.id, percentage);
      if (steps !== undefined) stored.current = await setPlan(seen.id, steps);
    },
    onSaved: () => setSaved(true),
    onGivenUp: onClose,
  });
  useEffect(() => {
    if (edit.error) console.warn('Release could not be saved:', messageOf(edit.error));
  }, [edit.error]);
  useCloseAfter(saved, onClose);
  useWhenAsked(edit.error, onClose);
  const submit = (values: ReleaseValues) => {
    chosen.current = values;
    edit.submit(payloadOf(values), stored.current);
  };
  return { ...edit, submit, saved };
}

function useCloseAfter(done: boolean, onClose: () => void): void {
  const close = useEffectEvent(onClose);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(close, bannerFor);
    return () => clearTimeout(timer);
  }, [done]);
}
