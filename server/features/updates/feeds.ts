import { v7 as uuidv7 } from 'uuid';
import type { Context } from '../../context.ts';
import { runPrepared } from '../../db/prepared.ts';
import { isVersion } from '../../../contract/versions.ts';
import { filePathOf, type LiveRelease, type ReleaseSet } from '../releases/index.ts';
import { decideOffer, isOnChannel, type Decision } from './decide-offer.ts';
import type { FeedRequest } from './feed-request.ts';
import type { UpdateRecorder } from '../update-events/index.ts';

export type Feeds = Pick<Context, 'db' | 'pool' | 'clock' | 'config'> & {
  releaseSet: ReleaseSet;
  recorder: UpdateRecorder;
};

/**
 * What a feed answers from: the decision, the version that it was taken for, and the same version in the other kinds
 * of file, as far as the machine is offered them too.
 */
export type Checked = Decision<LiveRelease> & {
  currentVersion: string | undefined;
  otherKinds: LiveRelease[];
};

/**
 * An update check: decides for the first kind of file that is out where the machine looks, and records the check of a
 * machine that is known by an id. `fileKinds` are those that the updater may take, the one the feed is meant for first.
 */
export async function check(
  feeds: Feeds,
  asked: FeedRequest,
  fileKinds: readonly [string, ...string[]],
  releases: readonly LiveRelease[],
): Promise<Checked> {
  const currentVersion = asked.currentVersion ?? (await lastVersion(feeds, asked.machineHash));
  const offerFor = (fileKind: string) => decideOffer(releases, { ...asked, fileKind, currentVersion });
  const leading = fileKinds.find((kind) => isOut(releases, asked, kind)) ?? fileKinds[0];
  const decision = offerFor(leading);
  const otherKinds = fileKinds
    .filter((kind) => kind !== leading)
    .flatMap((kind) => offerFor(kind).release ?? [])
    .filter((release) => release.version === decision.release?.version);
  record(feeds, asked, decision.release);
  return { ...decision, currentVersion, otherKinds };
}

/**
 * Whether machines of that channel may run this kind of file. A release that staff took out of the feeds counts: the
 * machines that have it still ask here, and must not be told of another kind.
 */
const isOut = (
  releases: readonly LiveRelease[],
  { platform, architecture, channel }: FeedRequest,
  fileKind: string,
): boolean =>
  releases.some(
    (r) =>
      r.fileKind === fileKind &&
      r.platform === platform &&
      r.architecture === architecture &&
      !r.isDraft &&
      isOnChannel(r, { channel }),
  );

/**
 * electron-updater does not say which version it updates; the machine's last report may. A version that no release
 * has decides nothing: anyone could report `999.0.0` for a machine, which would never be offered anything again.
 */
async function lastVersion(
  { db, pool }: Feeds,
  machineHash: string | undefined,
): Promise<string | undefined> {
  if (machineHash === undefined) return undefined;
  const query = db
    .selectFrom('machines')
    .select('last_version')
    .where('machine_hash', '=', Buffer.from(machineHash, 'hex'))
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('releases')
          .select('release_id')
          .whereRef('releases.version', '=', 'machines.last_version'),
      ),
    );
  const [machine] = await runPrepared(pool, query.compile());
  return machine?.last_version && isVersion(machine.last_version) ? machine.last_version : undefined;
}

function record({ recorder, clock }: Feeds, asked: FeedRequest, offered: LiveRelease | undefined): void {
  if (asked.machineHash === undefined || !asked.isCheck) return;
  const now = clock();
  recorder.add(asked.by, {
    eventId: uuidv7(),
    reported: false,
    at: now,
    receivedAt: now,
    machineHash: asked.machineHash,
    type: 'check',
    fromVersion: asked.currentVersion ?? null,
    toVersion: offered?.version ?? null,
    releaseId: offered?.id ?? null,
    platform: asked.platform,
    architecture: asked.architecture,
    channel: asked.channel,
    osVersion: null,
    appVersion: null,
    bytesDownloaded: null,
    errorCode: null,
    errorMessage: null,
  });
}

/**
 * Where this service serves a release's file, below its own address; external files as well, since an updater
 * carries the query of its feed, API key and all, to every file it is told of.
 */
export const filePath = ({ config }: Pick<Context, 'config'>, release: LiveRelease): string =>
  new URL(config.publicUrl).pathname.replace(/\/$/, '') + filePathOf(release);
