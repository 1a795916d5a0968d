import type { UpdateEvent } from './update-event.ts';

/** Where the download of one release by one machine stands, and how its last install ended. */
export type DownloadState = {
  startedAt: Date;
  completedAt: Date | null;
  bytesDownloaded: number | null;
  errorCode: string | null;
  /** Complete only because all of the file was sent; no machine has said so. */
  byDelivery: boolean;
  installedAt: Date | null;
  installFailed: boolean | null;
  /** When a feed of ours was seen to have offered the release to the machine. */
  offeredAt: Date | null;
  /** When the machine first fetched the file, or a part of it, from us. */
  fetchedAt: Date | null;
};

/**
 * The state after one more event. What is complete stays so, unless the machine says of a file that it was sent that
 * the download failed; what failed counts as failed until a retry completes. The last outcome of an install counts, and
 * a rollback is a failed one. By a slow clock an install is older than the release, which would keep it from the
 * count of failures: it counts from when the release was `published`.
 */
export function after(
  state: DownloadState,
  { type, at, bytesDownloaded, errorCode }: UpdateEvent,
  published: Date,
): DownloadState {
  const outcomeAt = at < published ? published : at;
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
      return { ...complete, bytesDownloaded: state.bytesDownloaded, ...outcome(state, outcomeAt, false) };
    case 'install_error':
    case 'rollback':
      return { ...state, ...outcome(state, outcomeAt, true) };
    default:
      return state;
  }
}

/** Reports may arrive late: an older outcome changes nothing. */
function outcome({ installedAt, installFailed }: DownloadState, at: Date, failed: boolean) {
  return installedAt && installedAt > at
    ? { installedAt, installFailed }
    : { installedAt: at, installFailed: failed };
}

/** What a change of state adds to the totals of the release. */
export const counted = (state: DownloadState) => ({
  completed: Number(state.completedAt !== null),
  failed: Number(state.completedAt === null && state.errorCode !== null),
});
