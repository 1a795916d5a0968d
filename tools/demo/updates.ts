import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { ReportedEvent } from '../../contract/updates.ts';
import { compareVersions } from '../../contract/versions.ts';
import type { Context } from '../../server/context.ts';
import type { Caller } from '../../server/caller.ts';
import { isFailure } from '../../server/failure.ts';
import { createRelease, type NewRelease } from '../../server/features/releases/releases.ts';
import { reportEvents, type UpdateRecorder } from '../../server/features/updates/updates.ts';
import type { Random } from './random.ts';

const dayMs = 86_400_000;
/** Beyond this many waiting reports the demo waits for them to be written, as a pool of clients would. */
const mostWaiting = 20_000;

export type DemoMachine = { machineId: string; platform: 'win32' | 'darwin' };
type Stage = { db: Context['db']; random: Random; now: Date; recorder: UpdateRecorder; publicUrl: string };

/** When each version came out, in days before today; the last one is the rollout under way. */
const versions: [version: string, channel: NewRelease['channel'], daysAgo: number][] = [
  ['4.0.0', 'stable', 210],
  ['4.0.1', 'stable', 180],
  ['4.1.0', 'stable', 130],
  ['4.1.1', 'stable', 110],
  ['4.1.3', 'stable', 75],
  ['4.2.0', 'stable', 40],
  ['4.2.1', 'stable', 6],
  ['4.3.0-beta.1', 'beta', 20],
  ['4.3.0-beta.2', 'beta', 9],
  ['4.4.0-alpha.1', 'alpha', 3],
];
const rolling = '4.2.1';

/**
 * Releases on every channel with a rollout of 5 % under way, and machines that check, download, install and now and
 * then fail: reported through the same function as by real machines.
 */
export async function makeUpdates(
  stage: Stage,
  by: Caller,
  machines: DemoMachine[],
): Promise<{ releases: number; updateEvents: number }> {
  let releases = 0;
  for (const [version, channel, daysAgo] of versions) {
    for (const platform of ['win32', 'darwin'] as const) {
      await makeRelease(stage, by, { version, channel, platform, daysAgo });
      releases += 1;
    }
  }
  let updateEvents = 0;
  for (const machine of machines) {
    const events = lifeOf(stage, machine);
    reportEvents({ recorder: stage.recorder, clock: () => stage.now }, events);
    updateEvents += events.length;
    if (updateEvents % mostWaiting < events.length) await stage.recorder.flush();
  }
  await stage.recorder.flush();
  return { releases, updateEvents };
}

type Build = {
  version: string;
  channel: NewRelease['channel'];
  platform: 'win32' | 'darwin';
  daysAgo: number;
};

async function makeRelease(
  { db, random, now, publicUrl }: Stage,
  by: Caller,
  { version, channel, platform, daysAgo }: Build,
) {
  const kind = platform === 'win32' ? 'exe' : 'zip';
  const fileName = `Lanyard-Viewer-${version}-${platform}.${kind}`;
  const at: Caller = { ...by, now: new Date(now.getTime() - daysAgo * dayMs) };
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
    isMandatory: version === '4.1.1',
    isDraft: channel === 'alpha',
    rolloutPercentage: version === rolling ? 5 : 100,
    failureThreshold: version === rolling ? { percent: 20, minimumInstalls: 50 } : null,
  };
  const made = await db.transaction().execute((tx) => createRelease(tx, at, build, publicUrl));
  if (isFailure(made)) throw new Error(made.message);
}

function notesOf(version: string): string {
  if (version === '4.1.1') return 'Fixes a wrong unit in dose reports. Update at once.';
  if (version === rolling)
    return 'Faster start; opens whole-slide images of more than 4 GB; fixes printing on A3.';
  return version.includes('-')
    ? 'For testers: new worklist and measurement tools.'
    : 'Improvements and fixes.';
}

/** What one machine reported in the last month: checks on most days, updates as they came out, some failures. */
function lifeOf({ random, now }: Stage, machine: DemoMachine): ReportedEvent[] {
  const stable = versions
    .filter(([, channel]) => channel === 'stable')
    .map(([version, , daysAgo]) => ({ version, daysAgo }));
  const offered = stable.filter(({ version }) => version !== rolling || random.chance(0.05));
  const lag = random.whole(0, 25);
  let current = '4.0.0';
  const events: ReportedEvent[] = [];
  for (let day = 30; day >= 0; day--) {
    if (random.chance(0.3)) continue;
    const at = new Date(now.getTime() - day * dayMs - random.whole(0, dayMs / 3));
    const newest =
      offered.filter(({ daysAgo }) => daysAgo >= day + lag || daysAgo > 40).at(-1)?.version ?? current;
    events.push(event(machine, 'check', at, { fromVersion: current }));
    if (compareVersions(newest, current) > 0) {
      events.push(...update(random, machine, at, current, newest));
      if (events.at(-1)!.eventType === 'install_complete') current = newest;
    }
  }
  return events;
}

function update(
  random: Random,
  machine: DemoMachine,
  at: Date,
  fromVersion: string,
  toVersion: string,
): ReportedEvent[] {
  const later = (minutes: number) => new Date(at.getTime() + minutes * 60_000);
  const versionsOf = { fromVersion, toVersion };
  const started = event(machine, 'download_start', later(1), versionsOf);
  if (random.chance(0.03)) {
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
  at: Date,
  more: Partial<ReportedEvent>,
): ReportedEvent {
  const osVersion = platform === 'darwin' ? '15.1' : '10.0.22631';
  return {
    eventId: uuidv7(),
    machineId,
    eventType,
    timestamp: at.toISOString(),
    platform,
    architecture: 'x64',
    channel: 'stable',
    osVersion,
    ...more,
  };
}
