import type { Updateable } from 'kysely';
import type { Caller } from '../../caller.ts';
import type { Tx } from '../../db/client.ts';
import { violatesUnique } from '../../db/client.ts';
import { announce } from '../../db/signals.ts';
import { nextVersion } from '../../db/sql.ts';
import type { Tables } from '../../db/tables.ts';
import { fail, type Failure } from '../../failure.ts';
import { writeAudit } from '../audit/audit.ts';
import { refuseOffer } from './publishing.ts';
import { lockRelease, selectReleases, toRelease, type ReleaseRow } from './release-row.ts';

type Identity = Pick<ReleaseRow, 'version' | 'channel' | 'platform' | 'architecture' | 'file_kind'>;

export const notFound = fail('NOT_FOUND', 'There is no such release.');

/** A second live build of the same kind. */
export const alreadyExists = (build: Identity) =>
  fail(
    'ALREADY_EXISTS',
    `There is already a ${build.channel} release ${build.version} for ${build.platform} (${build.architecture}) with a file of this kind (.${build.file_kind}).`,
  );

/** What staff call a release in a sentence. */
export const titleOf = (r: Omit<Identity, 'file_kind'>) =>
  `${r.version} (${r.channel}, ${r.platform} ${r.architecture})`;

/** A release that is not in the bin, locked. */
export async function lockLive(tx: Tx, releaseId: string): Promise<ReleaseRow | Failure> {
  const row = await lockRelease(tx, releaseId);
  return row && !row.deleted_at ? row : notFound;
}

type Change = {
  event: string;
  set: Updateable<Tables['releases']>;
  summary: string | ((before: ReleaseRow, after: ReleaseRow) => string);
};

/**
 * Writes a change of a locked release with its audit entry, and tells the feeds of every process. ALREADY_EXISTS
 * when a live release has the identity that this one would get, FORBIDDEN when the change reaches machines and the
 * caller may not roll out; a Failure rolls the write back.
 */
export async function changeRelease(
  tx: Tx,
  by: Caller,
  before: ReleaseRow,
  { event, set, summary }: Change,
): Promise<ReleaseRow | Failure> {
  try {
    await tx
      .updateTable('releases')
      .set({ ...set, updated_at: nextVersion(before.updated_at, by.now) })
      .where('release_id', '=', before.release_id)
      .execute();
  } catch (error) {
    if (violatesUnique(error, 'releases_identity'))
      return alreadyExists({ ...before, channel: set.channel ?? before.channel });
    throw error;
  }
  const after = await selectReleases(tx)
    .where('r.release_id', '=', before.release_id)
    .executeTakeFirstOrThrow();
  const denied = refuseOffer(by, before, after);
  if (denied) return denied;
  await auditRelease(tx, by, event, {
    summary: typeof summary === 'string' ? summary : summary(before, after),
    before,
    after,
  });
  return after;
}

/** The audit entry of a change that the feeds must hear of. */
export async function auditRelease(
  tx: Tx,
  by: Caller,
  event: string,
  { summary, before, after }: { summary: string; before?: ReleaseRow; after?: ReleaseRow },
): Promise<void> {
  await announce(tx, 'releases');
  await writeAudit(tx, by, {
    event,
    resourceType: 'release',
    resourceId: (before ?? after)!.release_id,
    summary: summary.slice(0, 1000),
    ...(before ? { before: audited(before) } : {}),
    ...(after ? { after: audited(after) } : {}),
  });
}

/** As staff see it; the address without the host, which is a setting and no part of the release. */
export function audited(row: ReleaseRow) {
  const { downloadCount: _, ...release } = toRelease(row, '');
  if (!row.deleted_at) return release;
  return { ...release, deletedAt: row.deleted_at.toISOString(), deletionReason: row.deletion_reason };
}
