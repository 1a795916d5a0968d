import type { Caller } from '../../caller.ts';
import type { Context } from '../../context.ts';
import { runPrepared } from '../../db/prepared.ts';
import { filePathOf, isSameLine, type LiveRelease, type ReleaseSet } from '../releases/index.ts';
import { countedVersion } from './counted-version.ts';
import { decideOffer, isOnChannel, type Question } from './decide-offer.ts';
import { withoutPolicy, type Policed } from './policy.ts';
import type { FeedCall, Updater } from './feed-request.ts';
import { machineOf, type UpdateRecorder } from '../update-events/index.ts';

export type Feeds = Pick<Context, 'db' | 'pool' | 'config'> & {
  releaseSet: ReleaseSet;
  policyOf: PolicyOf;
  recorder: UpdateRecorder;
};

/** Finds the policy of a machine, by its hash and its call. */
type PolicyOf = (machineHash: string, by: Caller) => Promise<Policed | undefined>;

/**
 * The data of a feed response: the decision, the version that it is based on, and other file kinds of the same version
 * that the machine is offered too.
 */
export type Checked = {
  release: LiveRelease | undefined;
  currentVersion: string | undefined;
  otherKinds: LiveRelease[];
};

/**
 * An update check: decides for the first kind of file available to the machine, says why in a header, and records the
 * check of an identified machine. `fileKinds` are those that the updater supports, the preferred one first.
 */
export async function check(
  feeds: Feeds,
  { by, query, http: { request, reply } }: FeedCall,
  updater: Updater,
  fileKinds: readonly [string, ...string[]],
): Promise<Checked> {
  const machineHash = machineOf(by, request, query);
  const currentVersion = updater.currentVersion ?? (await lastVersion(feeds, machineHash));
  const policed = machineHash === undefined ? undefined : await feeds.policyOf(machineHash, by);
  const { live } = await feeds.releaseSet();
  const question = { ...updater, machineHash, policed, currentVersion };
  const offerFor = (fileKind: string) => decideOffer(live, { ...question, fileKind });
  const leading = fileKinds.find((kind) => mayRun(live, { ...question, fileKind: kind })) ?? fileKinds[0];
  const { release, reason } = offerFor(leading);
  const otherKinds = fileKinds
    .filter((kind) => kind !== leading)
    .flatMap((kind) => offerFor(kind).release ?? [])
    .filter((other) => other.version === release?.version);
  // a HEAD does not identify an updater
  if (machineHash !== undefined && request.method !== 'HEAD')
    feeds.recorder.observe(by, {
      machineHash,
      type: 'check',
      fromVersion: updater.currentVersion ?? null,
      toVersion: release?.version ?? null,
      releaseId: release?.id ?? null,
      platform: updater.platform,
      architecture: updater.architecture,
      channel: updater.channel,
    });
  // what a policy decides is told only to a caller that has proved to be the machine that it knows
  const mayKnow = !policed?.isProven || by.actor.kind === 'machine';
  reply.header('x-update-reason', (mayKnow ? reason : withoutPolicy(reason)) ?? 'NONE');
  return { release, currentVersion, otherKinds };
}

/**
 * Whether machines of that channel may run this kind of file. Includes withdrawn releases: machines that run one still
 * ask here, and must not be offered another kind.
 */
const mayRun = (releases: readonly LiveRelease[], question: Question): boolean =>
  releases.some((r) => isSameLine(r, question) && !r.isDraft && isOnChannel(r, question));

/** electron-updater does not send its current version; the machine's last report may contain it. */
async function lastVersion(
  { db, pool, releaseSet }: Feeds,
  machineHash: string | undefined,
): Promise<string | undefined> {
  if (machineHash === undefined) return undefined;
  const query = db
    .selectFrom('machines')
    .select('last_version')
    .where('machine_hash', '=', Buffer.from(machineHash, 'hex'));
  const [machine] = await runPrepared(pool, query.compile());
  if (!machine) return undefined;
  const { live, trashed } = await releaseSet();
  return countedVersion(machine.last_version, [...live, ...trashed]);
}

/**
 * The path of a release's file on this service, relative to its address; also for external files, since an updater
 * would send the query of its feed, including the API key, to the external server.
 */
export const filePath = ({ config }: Pick<Context, 'config'>, release: LiveRelease): string =>
  new URL(config.publicUrl).pathname.replace(/\/$/, '') + filePathOf(release);
