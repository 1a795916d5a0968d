import { v7 as uuidv7 } from 'uuid';
import type { Caller } from '../../caller.ts';
import type { Context } from '../../context.ts';
import type { Delivery } from './happening.ts';
import type { UpdateRecorder } from './recorder.ts';

/** A file that a machine fetches: `delivered` when all its `bytes` were sent. */
export type Fetched = {
  type: Delivery;
  machineHash: string;
  release: { id: string; version: string };
  bytes: number | null;
};

/** Counts what the service saw of a download (decision 18), behind the answer. */
export function recordDelivery(
  { recorder, clock }: Pick<Context, 'clock'> & { recorder: UpdateRecorder },
  by: Caller,
  { type, machineHash, release, bytes }: Fetched,
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
