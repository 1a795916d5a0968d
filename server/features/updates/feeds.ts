import type { Caller } from '../../caller.ts';
import type { Context } from '../../context.ts';
import { runPrepared } from '../../db/prepared.ts';
import type { OfferReason } from '../../../contract/machines.ts';
import { filePathOf, type LiveRelease, type ReleaseSet } from '../releases/index.ts';
import { countedVersion } from './counted-version.ts';
import { decideOffer, isOnChannel } from './decide-offer.ts';
import { withoutPolicy, type Policed } from './policy.ts';
import type { FeedRequest } from './feed-request.ts';
import type { UpdateRecorder } from '../update-events/index.ts';

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
  /** POLICY in place of a policy's reason, where the caller has not proved to be the machine that it knows. */
  reason: OfferReason | 'POLICY' | undefined;
  currentVersion: string | undefined;
  otherKinds: LiveRelease[];
};

/**
 * An update check: decides for the first kind of file available to the machine, and records the check of an identified
 * machine. `fileKinds` are those that the updater supports, the preferred one first.
 */
export async function check(
  feeds: Feeds,
  asked: FeedRequest,
  fileKinds: readonly [string, ...string[]],
): Promise<Checked> {
  const currentVersion = asked.currentVersion ?? (await lastVersion(feeds, asked.machineHash));
  const policed = await policyFor(feeds, asked);
  const { live } = await feeds.releaseSet();
  const offerFor = (fileKind: string) => decideOffer(live, { ...asked, policed, fileKind, currentVersion });
  const leading = fileKinds.find((kind) => isOut(live, { ...asked, policed }, kind)) ?? fileKinds[0];
  const decision = offerFor(leading);
  const otherKinds = fileKinds
    .filter((kind) => kind !== leading)
    .flatMap((kind) => offerFor(kind).release ?? [])
    .filter((release) => release.version === decision.release?.version);
  record(feeds, asked, decision.release);
  const mayKnow = !policed?.isProven || asked.by.actor.kind === 'machine';
  const reason = mayKnow ? decision.reason : withoutPolicy(decision.reason);
  return { release: decision.release, reason, currentVersion, otherKinds };
}

/**
 * Whether machines of that channel may run this kind of file. Includes withdrawn releases: machines that run one still
 * ask here, and must not be offered another kind.
 */
const isOut = (
  releases: readonly LiveRelease[],
  { platform, architecture, channel, policed }: FeedRequest & { policed: Policed | undefined },
  fileKind: string,
): boolean =>
  releases.some(
    (r) =>
      r.fileKind === fileKind &&
      r.platform === platform &&
      r.architecture === architecture &&
      !r.isDraft &&
      isOnChannel(r, { channel, policed }),
  );

const policyFor = async ({ policyOf }: Feeds, { by, machineHash }: FeedRequest) =>
  machineHash === undefined ? undefined : policyOf(machineHash, by);

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

function record({ recorder }: Feeds, asked: FeedRequest, offered: LiveRelease | undefined): void {
  const { by, machineHash, platform, architecture, channel, currentVersion, isCheck } = asked;
  if (machineHash === undefined || !isCheck) return;
  recorder.observe(by, {
    machineHash,
    type: 'check',
    fromVersion: currentVersion ?? null,
    toVersion: offered?.version ?? null,
    releaseId: offered?.id ?? null,
    platform,
    architecture,
    channel,
  });
}

/**
 * The path of a release's file on this service, relative to its address; also for external files, since an updater
 * would send the query of its feed, including the API key, to the external server.
 */
export const filePath = ({ config }: Pick<Context, 'config'>, release: LiveRelease): string =>
  new URL(config.publicUrl).pathname.replace(/\/$/, '') + filePathOf(release);
