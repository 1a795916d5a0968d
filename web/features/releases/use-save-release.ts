import { useEffect, useEffectEvent, useRef, useState } from 'react';
import type { Release } from '../../../contract/releases.ts';
import { messageOf } from '../../api-error.ts';
import { useWhenAsked } from '../../approval-store.ts';
import { conflictOf, useEdit } from '../../edit-conflict.ts';
import { isSame } from '../../merge-edits.ts';
import { useAuth } from '../../session.tsx';
import { aboutRelease } from '../../toast-subjects.ts';
import { ofVersion, rolloutConflict, withRollout } from './release-conflict.ts';
import {
  changesOffer,
  chosenRollout,
  payloadOf,
  reachAfter,
  sawWith,
  storedRollout,
  type Edited,
  type ReleaseValues,
  type Rollout,
} from './release-form.ts';
import { readRelease, setPlan, setRollout, updateRelease } from './queries.ts';

type Base = Release & { rollout: Rollout | undefined };
type Reach = ReturnType<typeof reachAfter>['reach'];

/** The edit would offer the release to more machines, or on other terms, than the user saw, so they are asked first. */
class UnseenReach extends Error {
  unseen;
  constructor(unseen: { payload: Edited; base: Base; reach: Reach; publishes: boolean }) {
    super('To be confirmed');
    this.unseen = unseen;
  }
}

/** How long the success banner is shown before the dialog closes, in milliseconds. */
const bannerFor = 1200;

/**
 * Saves the edit; a changed rollout follows in a separate call (spec part 2, section 4), unless the edit changes what is
 * offered as well.
 */
export function useSaveRelease(seen: Release, onClose: () => void) {
  const { can } = useAuth();
  const [saved, setSaved] = useState(false);
  const [isPartlySaved, setPartlySaved] = useState(false);
  const isAnySaved = useRef(false);
  // When the first call succeeds and the second fails, the next attempt starts from the record that is stored by then.
  const stored = useRef(seen);
  const sent = useRef<ReturnType<typeof payloadOf>>(undefined);
  // What the next attempt is sent against: after a conflict, the record of the colleague.
  const latest = useRef(seen);
  const confirmed = useRef<Reach>(undefined);
  const saw = useRef<Parameters<typeof reachAfter>[1]>(seen);
  const edit = useEdit({
    subject: aboutRelease(seen),
    save: async (payload: Edited, base: Base) => {
      const { rollout, ...fields } = payload;
      const { reach, widens } = reachAfter(payload, latest.current, saw.current);
      if (widens && !isSame(reach, confirmed.current))
        throw new UnseenReach({ payload, base, reach, publishes: latest.current.isDraft });
      const withLatest = async (error: unknown, details = conflictOf(error)?.details): Promise<never> => {
        if (!details || !conflictOf(error)) throw error;
        latest.current = await readRelease(seen.id);
        throw withRollout({ details }, latest.current, rollout);
      };
      const publishes = base.isDraft && !fields.isDraft;
      const isChanged = rollout !== undefined && (publishes || !isSame(rollout, base.rollout));
      const isInOneCall = isChanged && changesOffer(fields, base);
      const body = { ...fields, ...(isInOneCall && rollout), updatedAt: base.updatedAt };
      const updated = await updateRelease(seen.id, body).catch((error: unknown) => withLatest(error));
      latest.current = updated;
      const { updatedAt } = updated;
      // the form does not show what a colleague has changed: its next attempt is merged with that again
      const isMerged = base.updatedAt !== stored.current.updatedAt;
      stored.current = isMerged ? { ...stored.current, ...sent.current } : updated;
      if (updatedAt !== base.updatedAt) isAnySaved.current = true;
      setPartlySaved(isAnySaved.current);
      if (isInOneCall || !isChanged || isSame(rollout, storedRollout(updated))) return;
      const conflict = rolloutConflict(base, updated, rollout);
      if (conflict) throw conflict;
      const set =
        'rolloutPlan' in rollout
          ? setPlan(seen.id, { plan: rollout.rolloutPlan, startsAt: rollout.startsAt, updatedAt })
          : setRollout(seen.id, { percentage: rollout.rolloutPercentage, updatedAt });
      // the update, sent again from its own version, meets what a colleague has changed since
      const own = [ofVersion(updated)];
      await set.catch((error: unknown) => withLatest(error, own));
    },
    onSaved: () => setSaved(true),
    onGivenUp: onClose,
  });
  const reaching = edit.error instanceof UnseenReach ? edit.error.unseen : undefined;
  const error = reaching ? null : edit.error;
  useEffect(() => {
    if (error) console.warn('Release could not be saved:', messageOf(error));
  }, [error]);
  useCloseAfter(saved, onClose);
  useWhenAsked(error, onClose);
  const submit = (values: ReleaseValues) => {
    setPartlySaved(false);
    const rollout = can.manageRollouts ? chosenRollout(values) : undefined;
    sent.current = payloadOf(values);
    const payload = { ...sent.current, rollout };
    latest.current = stored.current;
    saw.current = sawWith(seen, payload);
    const { reach, widens, isTyped } = reachAfter(payload, latest.current, saw.current);
    confirmed.current = widens && !isTyped ? undefined : reach;
    edit.submit(payload, { ...stored.current, rollout: storedRollout(seen) });
  };
  const confirmReach = () => {
    if (!reaching) return;
    confirmed.current = reaching.reach;
    edit.submit(reaching.payload, reaching.base);
  };
  return { ...edit, error, submit, reaching, confirmReach, saved, isPartlySaved };
}

function useCloseAfter(done: boolean, onClose: () => void): void {
  const close = useEffectEvent(onClose);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(close, bannerFor);
    return () => clearTimeout(timer);
  }, [done]);
}
