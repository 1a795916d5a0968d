import { useLayoutEffect, useRef, useState } from 'react';
import { getSession, hasSessionLapsed, sessionStore } from './session-store.ts';

/*
 * What was typed when the session ended unasked, until the same person has signed in again. In memory: signing in
 * does not load the page anew, and what is in storage could be read by the next person.
 */

type Work = { values?: unknown; record?: unknown };

const kept = new Map<string, Work>();
let owner = getSession()?.user.userId;

sessionStore.subscribe(() => {
  const user = getSession()?.user.userId;
  if (user === undefined ? !hasSessionLapsed() : user !== owner) kept.clear();
  owner = user ?? owner;
});

/** True when a form that opens after signing in again will hold what was typed. */
export const hasKeptWork = (): boolean => [...kept.values()].some(({ values }) => values !== undefined);

// Loading the sign-in page anew would lose it.
window.addEventListener('beforeunload', (event) => {
  if (hasKeptWork()) event.preventDefault();
});

/** What a form begins with: what the one of this key held when the session ended, or `otherwise`. */
export const keptValues = <Values>(key: string, otherwise: Values): Values =>
  (kept.get(key)?.values as Values | undefined) ?? otherwise;

/** `current` is asked when the session ends: what to keep of the form, or undefined when there is nothing. */
export const useKeepingValues = (key: string, current: () => object | undefined): void =>
  useKeeping(key, 'values', current);

/**
 * As `useState`, for which dialog is open: it opens again after signing in, when it or another held what was typed. A
 * bare confirmation does not, lest the key that signs in confirms it.
 */
export function useKept<Value>(key: string) {
  const state = useState(() => (hasKeptWork() ? (kept.get(key)?.record as Value | undefined) : undefined));
  useKeeping(key, 'record', () => state[0]);
  return state;
}

/**
 * The record that an edit begins from. A later load of the same record must not pass for having been seen: also not
 * the one after signing in again, when what was typed before is in the form.
 */
export function useSeen<Row>(key: string, record: Row) {
  const state = useState(() => {
    const work = kept.get(key);
    return work?.values === undefined ? record : (work.record as Row);
  });
  useKeeping(key, 'record', () => state[0]);
  return state;
}

function useKeeping(key: string, part: keyof Work, current: () => unknown): void {
  const latest = useRef(current);
  useLayoutEffect(() => {
    latest.current = current;
  });
  useLayoutEffect(() => {
    // It is in the form now.
    kept.delete(key);
    return () => {
      if (!hasSessionLapsed()) return;
      kept.set(key, { ...kept.get(key), [part]: latest.current() });
    };
  }, [key, part]);
}
