import type { Happening } from './happening.ts';

/** Where the download of one release by one machine stands, and how its last install ended. */
export type DownloadState = {
  startedAt: Date;
  completedAt: Date | null;
  bytesDownloaded: number | null;
  errorCode: string | null;
  installedAt: Date | null;
  installFailed: boolean | null;
};

/**
 * The state after one more event. What is complete stays so; what failed counts as failed until a retry completes.
 * The last outcome of an install counts, and a rollback is a failed one.
 */
export function after(
  state: DownloadState,
  { type, at, bytesDownloaded, errorCode }: Happening,
): DownloadState {
  const complete = {
    ...state,
    completedAt: state.completedAt ?? at,
    bytesDownloaded: bytesDownloaded ?? state.bytesDownloaded,
    errorCode: null,
  };
  switch (type) {
    case 'download_complete':
      return complete;
    case 'download_error':
      return state.completedAt
        ? state
        : {
            ...state,
            bytesDownloaded: bytesDownloaded ?? state.bytesDownloaded,
            errorCode: errorCode ?? 'UNKNOWN',
          };
    case 'install_complete':
      return { ...complete, bytesDownloaded: state.bytesDownloaded, ...outcome(state, at, false) };
    case 'install_error':
    case 'rollback':
      return { ...state, ...outcome(state, at, true) };
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
