import { mostSignIns, type TodayKind } from '../../../contract/today-needs.ts';
import type { TodayLine } from '../../../contract/today.ts';
import { paths } from '../../paths.ts';
import { bytesText } from '../../ui/bytes.ts';
import { counted } from '../../ui/counted.ts';
import type { Place } from '../../ui/ScreenLink.tsx';
import { relativeTime, relativeUtcDay } from '../../ui/time.ts';
import { countText } from '../../ui/numbers.ts';

/** From the most urgent on. */
const tones = ['red', 'orange', 'amber', 'neutral'] as const;
export type Tone = (typeof tones)[number];

/** How a line is shown: what it says, the list that it leads to, and the next thing to do. */
export type ShownLine = {
  tone: Tone;
  title: string;
  about: string | null;
  /** The list with the records that are counted, else the screen that it is about. */
  list: Place;
  /** Opens the most urgent of them. */
  next: (Place & { label: string }) | null;
};

type Next = NonNullable<TodayLine['next']>;
type Describe = (line: TodayLine, now: Date) => ShownLine;

/** A line about records, the first of which `about` describes, with its time in the words of `whenOf`, and `open` opens. */
function records(
  tone: Tone,
  title: (count: number) => string,
  about: (next: Next, when: string, now: Date) => string,
  list: Place,
  open: (next: Next) => Place & { label: string },
  whenOf = relativeTime,
): Describe {
  return ({ count, next }, now) => ({
    tone,
    title: title(count),
    about: next && about(next, next.at ? whenOf(next.at, now) : '', now),
    list,
    next: next && open(next),
  });
}

const licenses = (search: Place['search']): Place => ({ to: paths.licenses, search });
const releases = (attention: string): Place => ({ to: paths.releases, search: { attention } });
const apiKeys = (attention: string): Place => ({ to: paths.apiKeys, search: { attention } });

const ending = licenses({ expiring: '30', sort: 'validUntil' });
const ended = licenses({ tab: 'expired', attention: 'ended', sort: '-validUntil' });
const full = licenses({ attention: 'full' });
const offline = licenses({ attention: 'offline' });
const bin: Place = { to: paths.releaseTrash, search: { due: '7' } };
const waiting: Place = { to: paths.approvals, search: { waiting: '1' } };

/** Opens the license over the list that it is in. */
const license =
  (list: Place, label: string) =>
  ({ id }: Next) => ({ ...list, search: { ...list.search, edit: id }, label });
const release = ({ id }: Next) => ({ to: paths.release, params: { releaseId: id }, label: 'Open Release' });
const apiKey =
  (list: Place) =>
  ({ id }: Next) => ({ ...list, search: { ...list.search, key: id }, label: 'Open Key' });

/** `3 licenses end` and `1 license ends`: with the ending of the verb for one. */
const say = (count: number, one: string, verb: [one: string, many: string], rest: string) =>
  `${counted(count, one)} ${verb[count === 1 ? 0 : 1]} ${rest}`.trimEnd();

const described: Record<TodayKind, Describe> = {
  storageDown: ({ next }) => ({
    tone: 'red',
    title: 'The file storage is unavailable',
    about:
      next?.name ??
      'Files can be neither uploaded nor downloaded. Licenses are validated as usual. The server log says why.',
    list: { to: paths.releases },
    next: null,
  }),
  chainBroken: ({ next }) => ({
    tone: 'red',
    title: 'The audit log is broken',
    about: next?.name ?? null,
    list: { to: paths.audit },
    next: next?.id ? { to: paths.audit, search: { entry: next.id }, label: 'Open Entry' } : null,
  }),
  chainNotKept: ({ count, next }) => ({
    tone: 'orange',
    title: `The end of the audit log is not kept in ${counted(count, 'place')}`,
    about: next && `It could not be written to ${next.name}. The server log says why.`,
    list: { to: paths.audit },
    next: null,
  }),
  clockJumped: () => ({
    tone: 'orange',
    title: 'Permanent deletion is paused until somebody confirms the clock',
    about: 'The clock of the server and the database are more than a day apart.',
    list: { to: paths.releaseTrash },
    next: null,
  }),
  diskFull: ({ count, usual }) => ({
    tone: count >= 97 ? 'red' : 'orange',
    title: `The disk of the service is ${count} % full`,
    about: usual === null ? null : `${bytesText(usual)} are left for the database and the files.`,
    list: { to: paths.releaseTrash },
    next: { to: paths.releaseTrash, label: 'Open Bin' },
  }),
  releasesDamaged: records(
    'red',
    (n) => say(n, 'release', ['has', 'have'], 'a damaged file'),
    ({ name }, when) => `${name}: noticed ${when}. It is offered to no machine.`,
    releases('damaged'),
    release,
  ),
  rolloutsFailing: records(
    'red',
    (n) => say(n, 'rollout', ['failed and paused itself', 'failed and paused themselves'], ''),
    ({ name }, when) => `${name}, ${when}`,
    releases('failing'),
    release,
  ),
  rolloutsClaimed: records(
    'orange',
    (n) => say(n, 'release', ['fails', 'fail'], 'on machines without a token'),
    ({ name }, when) => `${name}, since ${when}. The reports are not verified, so nothing was paused.`,
    releases('claimed'),
    release,
  ),
  approvalsWaiting: records(
    'amber',
    (n) => say(n, 'change', ['waits', 'wait'], 'for your approval'),
    ({ name }, when) => `${name}. Expires ${when}`,
    waiting,
    () => ({ ...waiting, label: 'Review' }),
  ),
  rolloutsReady: records(
    'amber',
    (n) => say(n, 'rollout', ['is', 'are'], 'ready for the next step'),
    ({ name }) => `${name}: the step is due, and is not taken without somebody`,
    releases('ready'),
    release,
  ),
  rolloutsPaused: records(
    'amber',
    (n) => say(n, 'rollout', ['is', 'are'], 'paused'),
    ({ name }, when) => `${name}, ${when}`,
    releases('paused'),
    release,
  ),
  licensesEnded: records(
    'red',
    (n) =>
      `${counted(n, 'license')} ended within 7 days, and ${n === 1 ? 'its' : 'their'} machines still ask`,
    ({ name }, when) => `${name} ended ${when}`,
    ended,
    license(ended, 'Open License'),
    relativeUtcDay,
  ),
  licensesFull: records(
    'orange',
    (n) => say(n, 'full license', ['has', 'have'], 'machines waiting for a seat'),
    ({ name }, when) => `${name} refused one ${when}`,
    full,
    license(full, 'Open License'),
  ),
  licensesEnding: records(
    'amber',
    (n) => say(n, 'license', ['ends', 'end'], 'within 30 days'),
    ({ name }, when) => `${name} ends ${when}`,
    ending,
    license(ending, 'Open License'),
    relativeUtcDay,
  ),
  offlineEnding: records(
    'amber',
    (n) => say(n, 'license', ['has', 'have'], 'offline seats that end within 7 days'),
    ({ name }, when) => `The first of ${name} ends ${when}`,
    offline,
    license(offline, 'Open License'),
    relativeUtcDay,
  ),
  keysLimited: records(
    'orange',
    (n) => `${counted(n, 'API key')} reached a limit in this hour or the one before`,
    ({ name }) =>
      `${name}: what was above its limit of requests, events or new machines was refused or not recorded`,
    apiKeys('limited'),
    apiKey(apiKeys('limited')),
  ),
  keysRefused: records(
    'orange',
    (n) => say(n, 'API key', ['was', 'were'], 'refused within 24 hours'),
    ({ name }) => `${name}: expired, not active, or used from another address`,
    apiKeys('refused'),
    apiKey(apiKeys('refused')),
  ),
  keysEnding: records(
    'amber',
    (n) => say(n, 'API key', ['expires', 'expire'], 'within 30 days'),
    ({ name }, when) => `${name} expires ${when}`,
    apiKeys('ending'),
    apiKey(apiKeys('ending')),
  ),
  signInsRefused: ({ count, since, usual }) => ({
    tone: 'orange',
    title: `${count > mostSignIns ? `More than ${countText(mostSignIns)} entries` : counted(count, 'entry', 'entries')} about refused sign-ins within 24 hours`,
    about: usual === 0 ? 'Usually there are none' : `Usually there are ${countText(usual ?? 0)}`,
    list: {
      to: paths.audit,
      search: { eventType: 'session.login_failed', since: since ?? undefined },
    },
    next: null,
  }),
  trashEnding: records(
    'neutral',
    (n) => say(n, 'release', ['leaves', 'leave'], 'the recycle bin within 7 days'),
    // its time may be over: the bin is emptied hourly, and not while the clock is unconfirmed
    ({ name, at }, when, now) =>
      `${name} is permanently deleted ${at && Date.parse(at) <= now.getTime() ? 'at the next cleanup' : when}`,
    bin,
    () => ({ ...bin, label: 'Open Bin' }),
  ),
};

/** The texts and links of a line. */
export const shownLine = (line: TodayLine, now: Date): ShownLine => described[line.kind](line, now);

/**
 * The lines, the most urgent first; equally urgent ones stay in the order of the service. One of a kind that only another
 * version knows, as while two run, is left out.
 */
export const byUrgency = (lines: readonly TodayLine[], now: Date): TodayLine[] =>
  lines.filter(({ kind }) => kind in described).toSorted((a, b) => urgencyOf(a, now) - urgencyOf(b, now));

const urgencyOf = (line: TodayLine, now: Date) => tones.indexOf(shownLine(line, now).tone);

/** Whether the license that is named is one to extend. */
export const isToExtend = ({ kind }: TodayLine): boolean =>
  kind === 'licensesEnded' || kind === 'licensesEnding';
