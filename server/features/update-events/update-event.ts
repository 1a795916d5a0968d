import { utcDay } from '../../../contract/durations.ts';
import type { UpdateEventType } from '../../../contract/machines.ts';
import { type Channel, isVersion } from '../../../contract/versions.ts';
import type { Caller } from '../../caller.ts';

/** Observations of the service about a file that it sent; the history holds only reports of machines. */
export type DownloadStep = 'delivery_begun' | 'delivered';

/** One event of one machine, from a feed or a report, to be stored. Bytes and UTC instants. */
export type UpdateEvent = {
  eventId: string;
  /** Reported by the machine's program, which may send it again; otherwise observed by the service. */
  reported: boolean;
  /** The machine proved itself with its token; otherwise the caller named it. */
  proven: boolean;
  /** The time of the event by the machine's clock; never in the future. */
  at: Date;
  receivedAt: Date;
  machineHash: string;
  type: UpdateEventType | DownloadStep;
  fromVersion: string | null;
  toVersion: string | null;
  releaseId: string | null;
  platform: string | null;
  architecture: string | null;
  channel: Channel | null;
  osVersion: string | null;
  appVersion: string | null;
  bytesDownloaded: number | null;
  errorCode: string | null;
  errorMessage: string | null;
};

/** The fields that an event may lack, all unknown. */
export const unknownFields = {
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

/** What the service itself observed of a machine: an answered feed, a file that it sent. */
export type Observation = Pick<UpdateEvent, 'machineHash' | 'type'> &
  Partial<Pick<UpdateEvent, keyof typeof unknownFields>>;

/** An event and the call that reported it. Journal files of other versions have it under this name. */
export type Recorded = { by: Caller; happening: UpdateEvent };

export const isEvent = ({ type }: UpdateEvent): boolean => type !== 'delivery_begun' && type !== 'delivered';

/** A rollback itself succeeds, although it is a failure of the release. */
export const succeeded = ({ type }: UpdateEvent): boolean => !type.endsWith('_error');

/** The version that the machine runs after the event, if known. */
function runningVersion({ type, fromVersion, toVersion, appVersion }: UpdateEvent): string | null {
  const version =
    type === 'install_complete' || type === 'rollback' ? toVersion : (fromVersion ?? appVersion ?? null);
  return version !== null && isVersion(version) ? version : null;
}

/** The version whose release the event is about: a rollback is about the abandoned version. */
export function concernedVersion({ type, fromVersion, toVersion }: UpdateEvent): string | null {
  if (type === 'check') return null;
  return type === 'rollback' ? fromVersion : toVersion;
}

/** The changes of one machine in a batch of events. */
export type MachineActivity = Pick<
  UpdateEvent,
  'machineHash' | 'platform' | 'architecture' | 'channel' | 'osVersion' | 'appVersion'
> & {
  lastVersion: string | null;
  firstAt: Date;
  lastAt: Date;
  events: number;
  checks: number;
  /** Checks by UTC day, the earliest first. */
  checkDays: Map<string, number>;
};

/** One entry per machine, sorted by key; `events` are sorted by time. */
export function activityByMachine(events: readonly UpdateEvent[]): MachineActivity[] {
  const activity = new Map<string, MachineActivity>();
  for (const event of events) {
    const before = activity.get(event.machineHash);
    // One map, filled in place: a copy for each event would cost the square of the days, which the caller chooses. The
    // days are in order, since events are sorted by time.
    const checkDays = before?.checkDays ?? new Map<string, number>();
    const day = utcDay(event.at);
    if (event.type === 'check') checkDays.set(day, (checkDays.get(day) ?? 0) + 1);
    activity.set(event.machineHash, {
      machineHash: event.machineHash,
      platform: event.platform ?? before?.platform ?? null,
      architecture: event.architecture ?? before?.architecture ?? null,
      channel: event.channel ?? before?.channel ?? null,
      osVersion: event.osVersion ?? before?.osVersion ?? null,
      appVersion: event.appVersion ?? before?.appVersion ?? null,
      lastVersion: runningVersion(event) ?? before?.lastVersion ?? null,
      firstAt: before?.firstAt ?? event.receivedAt,
      lastAt: before && before.lastAt > event.receivedAt ? before.lastAt : event.receivedAt,
      events: (before?.events ?? 0) + Number(isEvent(event)),
      checks: (before?.checks ?? 0) + Number(event.type === 'check'),
      checkDays,
    });
  }
  return [...activity.values()].toSorted((a, b) => (a.machineHash < b.machineHash ? -1 : 1));
}
