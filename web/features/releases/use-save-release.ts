import { useEffect, useEffectEvent, useRef, useState } from 'react';
import type { Release } from '../../../contract/releases.ts';
import { messageOf } from '../../api-error.ts';
import { useWhenAsked } from '../../approval-store.ts';
import { conflictOf, useEdit } from '../../edit-conflict.ts';
import { isSame } from '../../merge-edits.ts';
import { useAuth } from '../../session.tsx';
import { aboutRelease } from '../../toast-subjects.ts';
import { rolloutConflict, withRollout } from './release-conflict.ts';
import { chosenRollout, payloadOf, storedRollout, type ReleaseValues, type Rollout } from './release-form.ts';
import { readRelease, setPlan, setRollout, updateRelease } from './queries.ts';

type Payload = ReturnType<typeof payloadOf> & { rollout: Rollout | undefined };
type Base = Release & { rollout: Rollout | undefined };

/** How long the success banner is shown before the dialog closes, in milliseconds. */
const bannerFor = 1200;

/** Saves the edit; a changed rollout follows in a separate call (spec part 2, section 4). */
export function useSaveRelease(seen: Release, onClose: () => void) {
  const { can } = useAuth();
  const [saved, setSaved] = useState(false);
  const [isPartlySaved, setPartlySaved] = useState(false);
  // When the first call succeeds and the second fails, the next attempt starts from the record that is stored by then.
  const stored = useRef(seen);
  const edit = useEdit({
    subject: aboutRelease(seen),
    save: async ({ rollout, ...fields }: Payload, base: Base) => {
      const publishes = base.isDraft && !fields.isDraft;
      const body = { ...fields, ...(publishes && rollout), updatedAt: base.updatedAt };
      stored.current = await updateRelease(seen.id, body).catch(async (error: unknown) => {
        const conflict = conflictOf(error);
        throw conflict && rollout ? withRollout(conflict, await readRelease(seen.id), rollout) : error;
      });
      const { updatedAt } = stored.current;
      setPartlySaved((before) => before || updatedAt !== base.updatedAt);
      if (publishes || rollout === undefined || isSame(rollout, base.rollout)) return;
      if (isSame(rollout, storedRollout(stored.current))) return;
      const conflict = rolloutConflict(base, stored.current, rollout);
      if (conflict) throw conflict;
      const set =
        'rolloutPlan' in rollout
          ? setPlan(seen.id, { plan: rollout.rolloutPlan, startsAt: rollout.startsAt, updatedAt })
          : setRollout(seen.id, { percentage: rollout.rolloutPercentage, updatedAt });
      stored.current = await set.catch(async (error: unknown) => {
        const since = conflictOf(error);
        throw since ? withRollout(since, await readRelease(seen.id), rollout) : error;
      });
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
    const rollout = can.manageRollouts ? chosenRollout(values) : undefined;
    edit.submit({ ...payloadOf(values), rollout }, { ...stored.current, rollout: storedRollout(seen) });
  };
  return { ...edit, submit, saved, isPartlySaved };
}

function useCloseAfter(done: boolean, onClose: () => void): void {
  const close = useEffectEvent(onClose);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(close, bannerFor);
    return () => clearTimeout(timer);
  }, [done]);
}
