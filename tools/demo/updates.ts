import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { ReportedEvent } from '../../contract/update-events.ts';
import { compareVersions, reaches } from '../../contract/versions.ts';
import type { Caller, EnrolledMachine } from '../../server/caller.ts';
import type { ChangeParts } from '../../server/change.ts';
import { softDeleteRelease } from '../../server/features/releases/release-trash.ts';
import { createRelease, type NewRelease } from '../../server/features/releases/index.ts';
import { rolloutBucket } from '../../server/features/updates/bucket.ts';
import { reportEvents, type UpdateRecorder } from '../../server/features/update-events/index.ts';
import { machineHashOf } from '../../server/machine-hash.ts';
import { unknownFields } from '../../server/features/update-events/update-event.ts';
import { days, daysInUse, workingMoment } from './calendar.ts';
import type { Random } from './random.ts';
import { at, done, made, type Stage } from './stage.ts';

/** Above this number of queued reports the demo waits for them to be written. */
const mostWaiting = 20_000;

export type DemoMachine = {
  machineId: string;
  platform: 'win32' | 'darwin';
  /** When it was first seen, in milliseconds since 1970. */
  since: number;
  /** With a token. */
  actor?: EnrolledMachine | undefined;
};
export type Updates = ChangeParts & Pick<Stage, 'random' | 'now'> & { recorder: UpdateRecorder };

type Version = {
  version: string;
  channel: NewRelease['channel'];
  daysAgo: number;
  /** The reason and date of deletion. */
  trashed?: { reason: string; daysAgo: number };
};

/** The last stable version has a rollout in progress. */
const versions: Version[] = [
  { version: '4.0.0', channel: 'stable', daysAgo: 520 },
  { version: '4.0.1', channel: 'stable', daysAgo: 340 },
  { version: '4.0.2', channel: 'stable', daysAgo: 285 },
  { version: '4.1.0', channel: 'stable', daysAgo: 230 },
  { version: '4.1.1', channel: 'stable', daysAgo: 198 },
  { version: '4.1.2', channel: 'stable', daysAgo: 150 },
  { version: '4.1.3', channel: 'stable', daysAgo: 95 },
  { version: '4.2.0', channel: 'stable', daysAgo: 38 },
  { version: '4.2.1', channel: 'stable', daysAgo: 6 },
  {
    version: '4.3.0-beta.1',
    channel: 'beta',
    daysAgo: 33,
    trashed: { reason: 'Replaced by beta.2: worklists were sorted wrong', daysAgo: 20 },
  },
  { version: '4.3.0-beta.2', channel: 'beta', daysAgo: 21 },
  { version: '4.3.0-beta.3', channel: 'beta', daysAgo: 9 },
  {
    version: '4.4.0-alpha.1',
    channel: 'alpha',
    daysAgo: 12,
    trashed: { reason: 'Built from the wrong branch', daysAgo: 5 },
  },
  { version: '4.4.0-alpha.2', channel: 'alpha', daysAgo: 3 },
];
const rolling = '4.2.1';
/** At its first step, which ends in a day or two. */
const rollingPlan = [
  { percentage: 5, hours: 168 },
  { percentage: 25, hours: 72 },
  { percentage: 100, hours: null },
];

/**
 * Creates releases on every channel, one with a rollout of 5 %, and machines that check, download, install and
 * sometimes fail, reported through the same function as by real machines.
 */
export async function makeUpdates(
  stage: Updates,
  by: Caller,
  machines: DemoMachine[],
): Promise<{ releases: number; updateEvents: number }> {
  const { db, random, now } = stage;
  const salts: Salts = { win32: '', darwin: '' };
  const releaseIds = new Map<string, string>();
  for (const { trashed, ...version } of versions) {
    for (const platform of ['win32', 'darwin'] as const) {
      const { id } = await makeRelease(stage, by, { ...version, platform });
      releaseIds.set(`${version.version} ${platform}`, id);
      if (version.version === rolling) salts[platform] = await saltOf(db, id);
      if (!trashed) continue;
      const when = workingMoment(random, now.getTime() - days(trashed.daysAgo), now.getTime());
      await made(stage, at(by, when), (change) => softDeleteRelease(change, id, trashed.reason));
    }
  }
  let updateEvents = 0;
  for (const machine of machines) {
    const events = lifeOf(stage, machine, salts);
    await observeUpdates(stage, by, machine, { events, releaseIds });
    await reportAll(stage, by, machine, events);
    updateEvents += events.length;
    if (updateEvents % mostWaiting < events.length) await stage.recorder.flush();
  }
  await stage.recorder.flush();
  return { releases: versions.length * 2, updateEvents };
}

/** Reports the events as the machine, each at its time. */
export async function reportAll(
  { recorder, now }: Updates,
  by: Caller,
  { actor }: DemoMachine,
  events: ReportedEvent[],
): Promise<void> {
  const reporter = actor ? { ...by, actor } : by;
  for (const one of events) {
    const heard = new Date(one.timestamp ?? now);
    // one at a time: the service dates first and last seen by the time of the report
    await done(reportEvents({ recorder, clock: () => heard }, reporter, [one]));
  }
}

/** What the service itself saw of the updates in a life: that a feed offered the release, and that it sent the file. */
async function observeUpdates(
  { recorder }: Updates,
  by: Caller,
  { machineId, platform, actor }: DemoMachine,
  { events, releaseIds }: { events: ReportedEvent[]; releaseIds: ReadonlyMap<string, string> },
): Promise<void> {
  const seen = { download_start: 'check', download_complete: 'delivered' } as const;
  const observed = events.flatMap(({ eventType, timestamp, toVersion = null }) => {
    const type = seen[eventType as keyof typeof seen];
    const releaseId = releaseIds.get(`${toVersion} ${platform}`);
    if (!type || !releaseId || !timestamp) return [];
    const moment = new Date(timestamp);
    return {
      ...unknownFields,
      eventId: uuidv7(),
      reported: false,
      proven: actor !== undefined,
      at: moment,
      receivedAt: moment,
      machineHash: machineHashOf(machineId),
      type,
      toVersion,
      releaseId,
    };
  });
  const refused = await recorder.report(by, observed);
  if (refused) throw new Error(refused.message);
}

type Salts = Record<DemoMachine['platform'], string>;

async function saltOf(db: Stage['db'], id: string): Promise<string> {
  const releases = db.selectFrom('releases').select('rollout_salt').where('release_id', '=', id);
  return (await releases.executeTakeFirstOrThrow()).rollout_salt;
}

type Build = Omit<Version, 'trashed'> & Pick<DemoMachine, 'platform'>;

/** A release whose file lies elsewhere. */
export async function makeRelease(
  stage: Updates,
  by: Caller,
  { version, channel, platform, daysAgo }: Build,
  more: Partial<Pick<NewRelease, 'isDraft'>> = {},
) {
  const { random, now } = stage;
  const kind = platform === 'win32' ? 'exe' : 'zip';
  const fileName = `Lanyard-Viewer-${version}-${platform}.${kind}`;
  const published = workingMoment(random, now.getTime() - days(daysAgo), now.getTime() - days(daysAgo - 1));
  const build: NewRelease = {
    version,
    channel,
    platform,
    architecture: 'x64',
    fileName,
    fileKind: kind,
    fileSize: random.whole(78_000_000, 96_000_000),
    sha512: createHash('sha512').update(fileName).digest('base64'),
    sha1: null,
    blockmapKey: null,
    externalUrl: `https://downloads.lanyard.example/${fileName}`,
    releaseNotes: notesOf(version),
    minimumAppVersion: version.startsWith('4.2') ? '4.0.0' : null,
    security: version === '4.1.1',
    minimumSupportedVersion: null,
    isMandatory: version === '4.1.1',
    isDraft: channel === 'alpha',
    rolloutPercentage: 100,
    acceptableFailures: version === rolling ? 20 : null,
    rolloutPlan: version === rolling ? rollingPlan : null,
    startsAt: null,
    ...more,
  };
  return made(stage, at(by, published), (change) => createRelease(change, build));
}

function notesOf(version: string): string {
  if (version === '4.1.1') return 'Fixes a wrong unit in dose reports. Update at once.';
  if (version === rolling)
    return 'Faster start; opens whole-slide images of more than 4 GB; fixes printing on A3.';
  return version.includes('-')
    ? 'For testers: new worklist and measurement tools.'
    : 'Improvements and fixes.';
}

/** Checks are complete for this many days; before, one a week and those that led to an update. */
const dailyChecks = 45;

/** Most machines belong to hospitals, some to testers. */
const channelOf = (random: Random): NewRelease['channel'] =>
  random.chance(0.04) ? 'beta' : random.chance(0.01) ? 'alpha' : 'stable';

/** The versions that a machine installs, oldest first, with their dates. */
function offersFor({ random, now }: Updates, channel: NewRelease['channel'], inRollout: boolean) {
  const lag = channel === 'stable' ? random.whole(0, 20) : random.whole(0, 3);
  return versions
    .filter((one) => reaches(one.channel, channel))
    .filter(({ version, trashed }) => !trashed && (version !== rolling || inRollout))
    .toSorted((a, b) => compareVersions(a.version, b.version))
    .map(({ version, daysAgo }) => {
      const wait = version === rolling ? Math.min(lag, 4) : lag;
      return { version, from: now.getTime() - days(daysAgo - 1 - wait) };
    });
}

/**
 * The reports of one machine: checks, each version some days after its publication, downloads and installs that
 * sometimes fail. Most retry the next day; some machines cannot, and keep their version.
 */
function lifeOf(stage: Updates, machine: DemoMachine, salts: Salts): ReportedEvent[] {
  const { random, now } = stage;
  const channel = channelOf(random);
  const inRollout = rolloutBucket(salts[machine.platform], machineHashOf(machine.machineId)) < 5;
  const offers = offersFor(stage, channel, inRollout);
  const newestAt = (moment: number) => offers.findLast(({ from }) => from <= moment)?.version;
  let current = newestAt(machine.since) ?? offers[0]!.version;
  let givenUp = '';
  let lastCheck = 0;
  const events: ReportedEvent[] = [];
  for (const seen of daysInUse(random, machine.since, now.getTime() - days(0.01))) {
    const newest = newestAt(seen) ?? current;
    const updates = compareVersions(newest, current) > 0 && newest !== givenUp;
    const isRecent = seen > now.getTime() - days(dailyChecks);
    if (!updates && !isRecent && seen < lastCheck + days(7)) continue;
    lastCheck = seen;
    const checked = [seen, ...(random.chance(0.3) ? [Math.min(seen + days(0.1), now.getTime())] : [])];
    for (const time of checked)
      events.push(event(machine, 'check', new Date(time), { fromVersion: current, channel }));
    if (!updates) continue;
    events.push(...update(random, machine, new Date(seen), current, newest));
    if (events.at(-1)?.eventType === 'install_complete') current = newest;
    else if (random.chance(0.5)) givenUp = newest;
  }
  return events;
}

function update(
  random: Random,
  machine: DemoMachine,
  moment: Date,
  fromVersion: string,
  toVersion: string,
): ReportedEvent[] {
  const later = (minutes: number) => new Date(moment.getTime() + minutes * 60_000);
  const versionsOf = { fromVersion, toVersion };
  const started = event(machine, 'download_start', later(1), versionsOf);
  if (random.chance(0.05)) {
    return [
      started,
      event(machine, 'download_error', later(4), {
        ...versionsOf,
        errorCode: 'ETIMEDOUT',
        errorMessage: 'The connection timed out',
      }),
    ];
  }
  const loaded = event(machine, 'download_complete', later(6), {
    ...versionsOf,
    bytesDownloaded: random.whole(78_000_000, 96_000_000),
  });
  const installing = event(machine, 'install_start', later(7), versionsOf);
  const ended = random.chance(0.04)
    ? event(machine, 'install_error', later(9), {
        ...versionsOf,
        errorCode: 'EACCES',
        errorMessage: 'The program folder is not writable',
      })
    : event(machine, 'install_complete', later(9), versionsOf);
  return [started, loaded, installing, ended];
}

function event(
  { machineId, platform }: DemoMachine,
  eventType: ReportedEvent['eventType'],
  moment: Date,
  more: Partial<ReportedEvent>,
): ReportedEvent {
  const osVersion = platform === 'darwin' ? '15.1' : '10.0.22631';
  return {
    eventId: uuidv7(),
    machineId,
    eventType,
    timestamp: moment.toISOString(),
    platform,
    architecture: 'x64',
    channel: 'stable',
    osVersion,
    ...more,
  };
}
