import { dayMs } from '../../../contract/durations.ts';
import type { Explanation, OfferReason } from '../../../contract/machines.ts';
import type { MachineStanding } from '../../../contract/machine-standing.ts';
import { compareVersions, isVersion } from '../../../contract/versions.ts';
import { clockMinutes, shortDate, utcDate, weekdayName } from '../../ui/time.ts';
import { refusalReasons } from '../../refusal-reasons.ts';
import { countText, fixedText } from '../../ui/numbers.ts';

type Standing = Pick<
  MachineStanding,
  'state' | 'code' | 'since' | 'license' | 'offlineUntil' | 'version' | 'lastSeen'
>;
type Offer = Pick<Explanation, 'version' | 'reason' | 'offered' | 'bucket' | 'rolloutPercentage'>;

/** What leads the page of a machine: `sentence`, and `further` below it. */
export type Verdict = { tone: 'good' | 'warning' | 'bad'; sentence: string; further: string | null };

/** Why a machine does not run, else what it runs and is offered. `offers`: newest first; undefined while they load. */
export function verdictOf(standing: Standing, offers: readonly Offer[] | undefined, now: Date): Verdict {
  const updates = offers && updateSentence(standing.version, offers);
  const license = licenseSentence(standing, now);
  if (standing.state === 'refused') return { tone: 'bad', sentence: license, further: updates ?? null };
  if (standing.state === 'clone' || isFull(standing))
    return { tone: 'warning', sentence: license, further: updates ?? null };
  if (!updates) return { tone: 'good', sentence: license, further: null };
  return { tone: 'good', sentence: updates, further: license || null };
}

function licenseSentence(
  { state, code, since, license, offlineUntil, lastSeen }: Standing,
  now: Date,
): string {
  switch (state) {
    case 'refused': {
      const full = isFull({ code }) && license ? ` (${seatsOf(license)})` : '';
      const isEnd = code === 'EXPIRED' && since === license?.validUntil;
      const when = since === null ? '' : ` since ${isEnd ? utcDate(since) : sinceText(since, now)}`;
      const file =
        offlineUntil && new Date(offlineUntil) > now
          ? `; may run without a network until ${utcDate(offlineUntil)}`
          : '';
      return `Refused${when}: ${refusalReasons[code ?? 'NOT_FOUND']}${full}${file}`;
    }
    case 'clone':
      return 'Two machines use its seat at once';
    case 'offline':
      return `Runs without a network until ${utcDate(offlineUntil ?? lastSeen)}`;
    case 'active':
      return 'Its license is valid';
    case 'no_seat':
      if (!license) return 'Holds no seat on any license';
      return isFull({ code })
        ? `Holds no seat, and all are taken (${seatsOf(license)})`
        : 'Holds no seat, and gets one when it next validates';
    case null:
      return '';
  }
}

const isFull = ({ code }: Pick<Standing, 'code'>) => code === 'TOO_MANY_ACTIVATIONS';

const seatsOf = ({ currentActivations, maxActivations }: NonNullable<Standing['license']>) =>
  `${countText(currentActivations)} of ${countText(maxActivations)}`;

type Offered = Pick<Offer, 'version' | 'reason'>;

/** The newest release that the machine would take, or for which somebody would ask why it is not offered it. */
export const newestFor = <One extends Offered>(
  version: string | null,
  offers: readonly One[],
): One | undefined => changesOf(version, offers).find(({ reason }) => reasons[reason] !== null);

/** A feed that is not told what the machine runs also offers what it runs already, and older releases. */
function changesOf<One extends Offered>(version: string | null, offers: readonly One[]): readonly One[] {
  if (version === null || !isVersion(version)) return offers;
  return offers.filter((offer) => {
    const order = compareVersions(offer.version, version);
    return order > 0 || (order < 0 && offer.reason === 'OFFERED');
  });
}

function updateSentence(version: string | null, offers: readonly Offer[]): string {
  const runs = version === null ? 'Runs an unknown version' : `Runs ${version}`;
  const newest = newestFor(version, offers);
  if (!newest) return version === null ? runs : `${runs}; no newer release is for it`;
  if (newest.offered) return `${runs}; offered ${newest.version}`;
  const offered = changesOf(version, offers).find((offer) => offer.offered);
  const instead = offered ? `; offered ${offered.version}` : '';
  return `${runs}${instead}; not offered ${newest.version}: ${whyNot(newest)}`;
}

/** Why it is not offered a release; null where nobody would ask. */
const reasons: Record<OfferReason, string | null> = {
  OFFERED: '',
  ROLLOUT_BUCKET: '',
  FULL_RELEASE_OFFERED_INSTEAD: 'a newer release rolls out without it',
  NOT_STARTED: 'rollout at 0 %',
  PAUSED: 'rollout paused',
  MINIMUM_VERSION: 'it runs less than the minimum version',
  LICENSE_INACTIVE: 'its license is not active',
  PINNED: 'pinned by a policy',
  UPDATES_ENDED: 'its updates ended',
  DEFERRED: 'deferred by a policy',
  OUTSIDE_WINDOW: 'outside of its maintenance window',
  OTHER_PLATFORM: null,
  NO_FEED: null,
  CHANNEL: null,
  DRAFT: null,
  INACTIVE: null,
  DAMAGED: null,
  DELETED: null,
  NOT_NEWER: null,
  NEWER_RELEASE_OFFERED: null,
};

const whyNot = ({ reason, bucket, rolloutPercentage }: Offer): string =>
  reason === 'ROLLOUT_BUCKET'
    ? `bucket ${fixedText(bucket ?? 0, 2)}, rollout ${rolloutPercentage} %`
    : (reasons[reason] ?? '');

/** A weekday names the same day last week from then on. */
const weekdaysFor = 6;

const startOfDay = (at: Date) => new Date(at.getFullYear(), at.getMonth(), at.getDate()).getTime();
const daysAgo = (at: Date, now: Date) => Math.round((startOfDay(now) - startOfDay(at)) / dayMs);

/** `today, 09:30`, `Tuesday`, `12 Nov 2026`, in the local time zone. */
export function sinceText(iso: string, now: Date): string {
  const at = new Date(iso);
  const days = daysAgo(at, now);
  if (days <= 0) return `today, ${clockMinutes(at)}`;
  return days <= weekdaysFor ? weekdayName(at) : shortDate(iso);
}

/** `Mon 08:00 – Fri 17:12`; with dates when it began more than six days ago. */
export function rangeText(from: string, to: string, now: Date): string {
  const text = (iso: string) => {
    const at = new Date(iso);
    return daysAgo(new Date(from), now) <= weekdaysFor
      ? `${weekdayName(at).slice(0, 3)} ${clockMinutes(at)}`
      : `${shortDate(iso)}, ${clockMinutes(at)}`;
  };
  return text(from) === text(to) ? text(from) : `${text(from)} – ${text(to)}`;
}
