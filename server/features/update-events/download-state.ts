import { dayMs } from '../../../contract/durations.ts';
import type { UpdateEvent } from './update-event.ts';

/** The state of one machine's download of one release, and the outcome of its last install. */
export type DownloadState = {
  completedAt: Date | null;
  bytesDownloaded: number | null;
  errorCode: string | null;
  /** Complete only because the whole file was sent; the machine has not reported it. */
  byDelivery: boolean;
  installedAt: Date | null;
  installFailed: boolean | null;
  /** An install failed, even if a later one succeeded. */
  everFailed: boolean;
  /** Why the last install failed; null without a code. */
  failureCode: string | null;
  /** The last install was undone. */
  rolledBack: boolean | null;
  /** The version that the machine came from. */
  fromVersion: string | null;
  /** When a feed of the service offered the release to the machine. */
  offeredAt: Date | null;
  /** When the machine first fetched the file, or a part of it, from the service. */
  fetchedAt: Date | null;
  /** The machine proved itself with its token; what API keys report of it no longer counts. */
  proven: boolean;
};

/**
 * The state after one more event. A complete download stays complete, unless the machine reports that the download of a
 * sent file failed; a failed one stays failed until a retry completes. The last outcome of an install counts, and a
 * rollback is a failure. A slow clock may date an install before the release or the moment from which failures count, which
 * would exclude it: it is dated `published` at the earliest, and `failuresFrom` if it was received later. That lies after
 * `now` where the clock of the service is behind the newest time: then what is written now was received later. After
 * `latest`, the later of both, by more than a day, it was written by a clock that was ahead.
 */
export function nextState(
  before: DownloadState,
  event: UpdateEvent,
  { published, failuresFrom, now, latest }: { published: Date; failuresFrom: Date; now: Date; latest: Date },
): DownloadState {
  const { type, at, bytesDownloaded, errorCode, proven, fromVersion } = event;
  if (before.proven && !proven) return before;
  // an outcome that was only claimed does not become that of the machine
  const state =
    proven && !before.proven
      ? {
          ...before,
          proven,
          installedAt: null,
          installFailed: null,
          everFailed: false,
          failureCode: null,
          rolledBack: null,
        }
      : before;
  const isClockBehind = failuresFrom > now && failuresFrom.getTime() <= latest.getTime() + dayMs;
  const isSince = event.receivedAt >= failuresFrom || isClockBehind;
  const earliest = isSince && failuresFrom > published ? failuresFrom : published;
  const outcomeAt = at < earliest ? earliest : at;
  const complete = {
    ...state,
    completedAt: state.completedAt ?? at,
    bytesDownloaded: bytesDownloaded ?? state.bytesDownloaded,
    errorCode: null,
    byDelivery: false,
  };
  switch (type) {
    case 'download_complete':
      return complete;
    case 'delivery_begun':
      return state.fetchedAt ? state : { ...state, fetchedAt: at };
    case 'delivered':
      return state.completedAt ? state : { ...complete, byDelivery: true, fetchedAt: state.fetchedAt ?? at };
    case 'download_error':
      return state.completedAt && !(state.byDelivery && at > state.completedAt)
        ? state
        : {
            ...state,
            completedAt: null,
            byDelivery: false,
            bytesDownloaded: bytesDownloaded ?? state.bytesDownloaded,
            errorCode: errorCode ?? 'UNKNOWN',
          };
    case 'install_complete':
      return {
        ...complete,
        bytesDownloaded: state.bytesDownloaded,
        // of a rollback, it is the version that was abandoned
        fromVersion: fromVersion ?? state.fromVersion,
        ...outcome(state, outcomeAt, event),
      };
    case 'install_error':
    case 'rollback':
      return { ...state, everFailed: true, ...outcome(state, outcomeAt, event) };
    default:
      return state;
  }
}

/**
 * Reports may arrive late: an older outcome changes nothing. One of more than a day after this report was dated by a clock
 * that was ahead.
 */
function outcome(state: DownloadState, at: Date, { type, errorCode, receivedAt }: UpdateEvent) {
  const { installedAt, installFailed, failureCode, rolledBack } = state;
  if (installedAt && installedAt > at && installedAt.getTime() <= receivedAt.getTime() + dayMs)
    return { installedAt, installFailed, failureCode, rolledBack };
  return {
    installedAt: at,
    installFailed: type !== 'install_complete',
    failureCode: type === 'install_complete' ? null : errorCode,
    rolledBack: type === 'rollback',
  };
}

/** The contribution of a state to the totals of the release. */
export const counted = (state: DownloadState) => ({
  completed: Number(state.completedAt !== null),
  failed: Number(state.completedAt === null && state.errorCode !== null),
  proven: Number(state.proven),
});
