import { randomUUID } from 'node:crypto';
import { attempt, contentOf, writeDurably } from './durable.ts';
import { jsonObject } from './jws.ts';

/** An update that was downloaded and has not been seen to run. */
export type PendingUpdate = {
  /** One try: the ids of its events derive from it, so that a repeated one counts once. */
  id: string;
  from: string;
  to: string;
  releaseId: string | undefined;
  installing: boolean;
};

/** What a start must know of the one before. */
type UpdateState = {
  /** The version that ran last, and an id for the time since it first ran. */
  version: string;
  since: string;
  pending: PendingUpdate | null;
};

/** What became of an update. `id`: the try that it belongs to. */
export type Outcome = {
  id: string;
  eventType: 'install_complete' | 'install_error' | 'rollback';
  from: string;
  to: string;
  releaseId: string | undefined;
};

/** Without build metadata, which a release may have more of than the program that is in it. */
const isSame = (a: string, b: string): boolean => a.split('+')[0] === b.split('+')[0];

/**
 * Compares the version that now runs with what was known at the last start: what to report, and what to keep.
 * `isOlder`: whether it is older than the other.
 */
export function settle(
  before: UpdateState | undefined,
  version: string,
  isOlder: (other: string) => boolean,
): { state: UpdateState; outcome?: Outcome } {
  if (before && isSame(before.version, version)) {
    const { pending } = before;
    if (!pending?.installing) return { state: { ...before, version } };
    // the next try, or an installer that was only slow, has its own outcome
    const again = { ...pending, id: randomUUID(), installing: false };
    return {
      state: { ...before, version, pending: again },
      outcome: { ...pending, eventType: 'install_error' },
    };
  }
  const state = { version, since: randomUUID(), pending: null };
  if (!before) return { state };
  if (before.pending && isSame(before.pending.to, version))
    return { state, outcome: { ...before.pending, eventType: 'install_complete' } };
  if (!isOlder(before.version)) return { state };
  return {
    state,
    outcome: {
      id: before.since,
      eventType: 'rollback',
      from: before.version,
      to: version,
      releaseId: undefined,
    },
  };
}

/** Returns undefined at the first start, and where the file is damaged. */
export function readUpdateState(file: string): UpdateState | undefined {
  const state = jsonObject(contentOf(file)) as UpdateState | undefined;
  return typeof state?.version === 'string' && typeof state.since === 'string' ? state : undefined;
}

/** Where it cannot be written, the next start does not know what became of an update: reports never stop a program. */
export function writeUpdateState(file: string, state: UpdateState): void {
  attempt(() => writeDurably(file, JSON.stringify(state)));
}
