import { v7 as uuidv7 } from 'uuid';
import type { Caller } from '../../caller.ts';
import type { Context } from '../../context.ts';
import type { DownloadStep } from './update-event.ts';
import type { UpdateRecorder } from './update-recorder.ts';

/** A file fetched by a machine: `delivered` when all its `bytes` were sent. */
export type TrackedDownload = {
  type: DownloadStep;
  machineHash: string;
  release: { id: string; version: string };
  bytes: number | null;
};

/** Counts a download observed by the service (decision 18), after the response. */
export function trackDownload(
  { recorder, clock }: Pick<Context, 'clock'> & { recorder: UpdateRecorder },
  by: Caller,
  { type, machineHash, release, bytes }: TrackedDownload,
): void {
  const now = clock();
  recorder.add(by, {
    eventId: uuidv7(),
    reported: false,
    at: now,
    receivedAt: now,
    machineHash,
    type,
    fromVersion: null,
    toVersion: release.version,
    releaseId: release.id,
    platform: null,
    architecture: null,
    channel: null,
    osVersion: null,
    appVersion: null,
    bytesDownloaded: bytes,
    errorCode: null,
    errorMessage: null,
  });
}
