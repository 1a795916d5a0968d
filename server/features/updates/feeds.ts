import { v7 as uuidv7 } from 'uuid';
import type { Context } from '../../context.ts';
import { runPrepared } from '../../db/prepared.ts';
import { isVersion } from '../../../contract/versions.ts';
import { filePathOf, type LiveRelease, type ReleaseSet } from '../releases/releases.ts';
import { decide, type Decision } from './decide.ts';
import type { FeedRequest } from './feed-request.ts';
import type { UpdateRecorder } from './recorder.ts';

export type Feeds = Pick<Context, 'db' | 'pool' | 'clock' | 'config'> & {
  releaseSet: ReleaseSet;
  recorder: UpdateRecorder;
};

/** What a feed answers from: the decision, and the version that it was taken for. */
export type Checked = Decision<LiveRelease> & { currentVersion: string | undefined };

/**
 * An update check: decides among the kinds of file that the updater takes, the first that has any release, and
 * records the check of a machine that is known by an id.
 */
export async function check(
  feeds: Feeds,
  asked: FeedRequest,
  fileKinds: readonly string[],
  releases: readonly LiveRelease[],
): Promise<Checked> {
  const currentVersion = asked.currentVersion ?? (await lastVersion(feeds, asked.machineHash));
  const fileKind =
    fileKinds.find((kind) =>
      releases.some(
        (r) => r.fileKind === kind && r.platform === asked.platform && r.architecture === asked.architecture,
      ),
    ) ?? fileKinds[0]!;
  const decision = decide(releases, { ...asked, fileKind, currentVersion });
  record(feeds, asked, decision.release);
  return { ...decision, currentVersion };
}

/** electron-updater does not say which version it updates; the machine's last report may. */
async function lastVersion(
  { db, pool }: Feeds,
  machineHash: string | undefined,
): Promise<string | undefined> {
  if (machineHash === undefined) return undefined;
  const query = db
    .selectFrom('machines')
    .select('last_version')
    .where('machine_hash', '=', Buffer.from(machineHash, 'hex'));
  const [machine] = await runPrepared(pool, query.compile());
  return machine?.last_version && isVersion(machine.last_version) ? machine.last_version : undefined;
}

function record({ recorder, clock }: Feeds, asked: FeedRequest, offered: LiveRelease | undefined): void {
  if (asked.machineHash === undefined || !asked.isCheck) return;
  const now = clock();
  recorder.add({
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
