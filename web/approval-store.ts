import { useEffect, useEffectEvent } from 'react';
import { ApiError } from './api-error.ts';
import { createStore, useStore } from './ui/store.ts';

/*
 * A change that was refused until a second person approves it. Every form offers to ask, because the offer is made
 * where all failed changes pass; the form keeps what was entered.
 */

const offered = createStore<ApiError | null>(null);
const asked = createStore<ApiError | null>(null);

/** The refused change that the user is asked about. */
export const useOfferedApproval = (): ApiError | null => useStore(offered);

/** Offers to ask a second person, if that is what the error is about: a release that does not exist cannot wait. */
export function offerApproval(error: unknown): void {
  if (error instanceof ApiError && error.code === 'NEEDS_APPROVAL' && versionIn(error)) offered.set(error);
}

/** Another user is not asked about it. */
export const dropOffer = (): void => offered.set(null);

/** `sent`: whether a second person was asked. A late answer, after the offer was left, ends no other and closes no form. */
export function endOffer(error: ApiError, sent: boolean): void {
  if (offered.get() !== error) return;
  offered.set(null);
  if (sent) asked.set(error);
}

/** Closes a form whose change now waits for approval. */
export function useWhenAsked(error: Error | null, close: () => void): void {
  const isAsked = useStore(asked) === error && error !== null;
  const closeNow = useEffectEvent(close);
  useEffect(() => {
    if (isAsked) closeNow();
  }, [isAsked]);
}

/** The version of the record that the refused change was compared with. */
export function versionIn(error: ApiError): string | undefined {
  const version = error.details.find(({ path }) => path === 'updatedAt')?.current;
  return typeof version === 'string' ? version : undefined;
}
