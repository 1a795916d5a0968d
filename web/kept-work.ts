import { useLayoutEffect, useRef, useState } from 'react';
import { hasLost } from './permission-checks.ts';
import { useAuth } from './session.tsx';
import { getSession, hasSessionLapsed, sessionStore } from './session-store.ts';
import { formsAgain } from './ui/open-forms.ts';

/*
 * Form input that was not saved when the session ended unexpectedly, kept until the same user signs in again. In
 * memory: signing in does not reload the page, and the next user could read storage.
 */

type Work = { values?: unknown; record?: unknown };

const kept = new Map<string, Work>();
let owner = getSession()?.user.userId;

sessionStore.subscribe(() => {
  const user = getSession()?.user.userId;
  if (user === undefined ? !hasSessionLapsed() : user !== owner) kept.clear();
  owner = user ?? owner;
});

/** True when a form that reopens after signing in will restore its input. */
export const hasKeptWork = (): boolean => [...kept.values()].some(({ values }) => values !== undefined);

// A form that restores its input sends what had no answer with the same `Idempotency-Key` again: it is done once.
formsAgain.of = (name) =>
  hasKeptWork() ? (kept.get(`form ${name}`)?.record as object | undefined) : undefined;
formsAgain.closed = (name, form) => {
  if (hasSessionLapsed()) kept.set(`form ${name}`, { record: form });
  else kept.delete(`form ${name}`);
};

// Reloading would lose it, until its form has restored it.
window.addEventListener('beforeunload', (event) => {
  if (hasKeptWork()) event.preventDefault();
});

/** Its record is gone, so no form will restore it. */
export const dropKeptWork = (): void => kept.clear();

/** Initial value of a form: what the form with this key held when the session ended, or `otherwise`. */
export const keptValues = <Values>(key: string, otherwise: Values): Values =>
  (kept.get(key)?.values as Values | undefined) ?? otherwise;

/** `current` is called when the session ends: it returns what to keep of the form, or undefined for nothing. */
export const useKeepingValues = (key: string, current: () => object | undefined): void =>
  useKeeping(key, 'values', current);

/**
 * As `useState`, for which dialog is open: it reopens after signing in, when there is input to restore. A bare
 * confirmation does not reopen, so that the key press that signs in cannot confirm it. It closes when a right is lost,
 * which may be the one of its button; while it has input, `KeptRights` keeps that.
 */
export function useKept<Value>(key: string) {
  const [shown, setShown] = useState(() =>
    hasKeptWork() ? (kept.get(key)?.record as Value | undefined) : undefined,
  );
  useKeeping(key, 'record', () => shown);
  const { permissions } = useAuth();
  const [held, setHeld] = useState(permissions);
  if (held !== permissions) {
    setHeld(permissions);
    if (hasLost(held, permissions)) setShown(undefined);
  }
  // A late answer closes the dialog that it was for, and none that was opened since.
  const set = (next: Value | undefined) =>
    setShown((now) => (next === undefined && now !== shown ? now : next));
  return [shown, set] as const;
}

/**
 * The record that an edit starts from. A later load of the same record must not count as seen by the user, also not the
 * one after signing in again, when the form restores earlier input.
 */
export function useSeen<Row>(key: string, record: Row) {
  const state = useState(() => {
    const work = kept.get(key);
    return work?.values === undefined ? record : (work.record as Row);
  });
  useKeeping(key, 'record', () => state[0]);
  return state;
}

/**
 * What a change returns that is shown only once, such as a secret: also after signing in again. Closing its dialog
 * discards it.
 */
export function useShownOnce<Answer extends object>(
  key: string,
  answer: Answer | undefined,
): Answer | undefined {
  const [before] = useState(() => keptValues<{ answer?: Answer }>(key, {}).answer);
  const shown = answer ?? before;
  useKeepingValues(key, () => shown && { answer: shown });
  return shown;
}

/**
 * True from when `may` first is, or where the form with this key restores its input. So a form stays with what was typed
 * when a colleague changes the state of its record; the refusal of its save says why.
 */
export function useBegun(key: string, may: boolean): boolean {
  const [begun, setBegun] = useState(() => may || kept.get(key)?.values !== undefined);
  if (may && !begun) setBegun(true);
  return begun || may;
}

function useKeeping(key: string, part: keyof Work, current: () => unknown): void {
  const latest = useRef(current);
  useLayoutEffect(() => {
    latest.current = current;
  });
  useLayoutEffect(() => {
    // The form has restored it.
    kept.delete(key);
    return () => {
      if (!hasSessionLapsed()) return;
      kept.set(key, { ...kept.get(key), [part]: latest.current() });
    };
  }, [key, part]);
}
