import type { UpdateEventType } from '../../../contract/machines.ts';
import { type Channel, isVersion } from '../../../contract/versions.ts';
import type { Caller } from '../../caller.ts';

/** What the service itself saw of a file that it sent: no event, for the history is what the machine says. */
export type Delivery = 'delivery_begun' | 'delivered';

/** One event of one machine, from a feed or a report, on its way into the database. Bytes and UTC instants. */
export type Happening = {
  eventId: string;
  /** Made by the machine's program, which may send it again; otherwise the event is our own. */
  reported: boolean;
  /** When it happened, as the machine says; never in the future. */
  at: Date;
  receivedAt: Date;
  machineHash: string;
  type: UpdateEventType | Delivery;
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

/** A happening, and whose call told of it. */
export type Recorded = { by: Caller; happening: Happening };

export const isEvent = ({ type }: Happening): boolean => type !== 'delivery_begun' && type !== 'delivered';

/** A rollback is a success of its own; what it says about the release is another matter. */
export const succeeded = ({ type }: Happening): boolean => !type.endsWith('_error');

/** The version that the machine runs after the event, where the event tells. */
function runningVersion({ type, fromVersion, toVersion, appVersion }: Happening): string | null {
  const told =
    type === 'install_complete' || type === 'rollback' ? toVersion : (fromVersion ?? appVersion ?? null);
  return told !== null && isVersion(told) ? told : null;
}

/** The version whose release the event is about: a rollback is about the one that was left. */
export function concerns({ type, fromVersion, toVersion }: Happening): string | null {
  if (type === 'check') return null;
  return type === 'rollback' ? fromVersion : toVersion;
}

/** What a batch knows of one machine, its events taken together. */
export type MachineNews = Pick<
  Happening,
  'machineHash' | 'platform' | 'architecture' | 'channel' | 'osVersion' | 'appVersion'
> & {
  lastVersion: string | null;
  firstAt: Date;
  lastAt: Date;
  events: number;
  checks: number;
  /** Checks by UTC day, the earliest first. */
  checkDays: [day: string, checks: number][];
};

/** UTC day of an instant, as `2026-11-20`. */
const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** One entry a machine, in the order of their keys; `happenings` are in the order of time. */
export function newsByMachine(happenings: readonly Happening[]): MachineNews[] {
  const news = new Map<string, MachineNews>();
  for (const h of happenings) {
    const before = news.get(h.machineHash);
    const days = new Map(before?.checkDays);
    if (h.type === 'check') days.set(dayOf(h.at), (days.get(dayOf(h.at)) ?? 0) + 1);
    news.set(h.machineHash, {
      machineHash: h.machineHash,
      platform: h.platform ?? before?.platform ?? null,
      architecture: h.architecture ?? before?.architecture ?? null,
      channel: h.channel ?? before?.channel ?? null,
      osVersion: h.osVersion ?? before?.osVersion ?? null,
      appVersion: h.appVersion ?? before?.appVersion ?? null,
      lastVersion: runningVersion(h) ?? before?.lastVersion ?? null,
      firstAt: before?.firstAt ?? h.receivedAt,
      lastAt: before && before.lastAt > h.receivedAt ? before.lastAt : h.receivedAt,
      events: (before?.events ?? 0) + Number(isEvent(h)),
      checks: (before?.checks ?? 0) + Number(h.type === 'check'),
      // happenings come in the order of time, and so do their days
      checkDays: [...days],
    });
  }
  return [...news.values()].toSorted((a, b) => (a.machineHash < b.machineHash ? -1 : 1));
}
