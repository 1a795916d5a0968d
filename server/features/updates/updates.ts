import type { Explanation } from '../../../contract/machines.ts';
import type { ReportedEvent } from '../../../contract/updates.ts';
import type { Caller } from '../../caller.ts';
import type { Context } from '../../context.ts';
import type { Db } from '../../db/client.ts';
import type { Failure } from '../../failure.ts';
import { selectReleases, toLiveRelease } from '../releases/releases.ts';
import { explainEach, type KnownMachine } from './explain.ts';
import type { Happening } from './happening.ts';
import { machineHashOf } from './machine-id.ts';
import type { UpdateRecorder } from './recorder.ts';

export { createUpdateRecorder, type UpdateRecorder } from './recorder.ts';
export { recordDelivery, type Fetched } from './delivery.ts';
export { machineOf } from './feed-request.ts';
export { machineHashOf } from './machine-id.ts';
export type { KnownMachine } from './explain.ts';

/**
 * Takes what machines report: all of it, or nothing when a budget of the API key is used up. It is written behind the
 * answer, and what was reported before counts once.
 */
export async function reportEvents(
  { recorder, clock }: Pick<Context, 'clock'> & { recorder: UpdateRecorder },
  by: Caller,
  events: readonly ReportedEvent[],
): Promise<{ accepted: number } | Failure> {
  const now = clock();
  const happenings = events.map(({ machineId, eventType, timestamp, ...rest }): Happening => {
    const said = timestamp === undefined ? now : new Date(timestamp);
    return {
      ...none,
      ...rest,
      reported: true,
      // the clock of a desktop may be wrong, but nothing has happened that is still to come
      at: said > now ? now : said,
      receivedAt: now,
      machineHash: machineHashOf(machineId),
      type: eventType,
      // what was offered is known from our own feeds alone
      ...(eventType === 'check' ? { releaseId: null } : {}),
    };
  });
  return (await recorder.report(by, happenings)) ?? { accepted: events.length };
}

/** What a report may leave out. */
const none = {
  fromVersion: null,
  toVersion: null,
  releaseId: null,
  platform: null,
  architecture: null,
  channel: null,
  osVersion: null,
  appVersion: null,
  bytesDownloaded: null,
  errorCode: null,
  errorMessage: null,
};

/** For each release, those in the bin among them: why the machine is or is not offered it, as the feeds decide. */
export async function explainOffers(db: Db, machine: KnownMachine): Promise<Explanation[]> {
  const rows = await selectReleases(db).execute();
  const isKnown = rows.some(({ version }) => version === machine.currentVersion);
  return explainEach(
    rows.map((row) => toLiveRelease(row, '')),
    { ...machine, currentVersion: isKnown ? machine.currentVersion : null },
  );
}
