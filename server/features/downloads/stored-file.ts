import { buffer } from 'node:stream/consumers';
import { sql } from 'kysely';
import { dayMs, hourMs } from '../../../contract/durations.ts';
import { trashDays } from '../../../contract/releases.ts';
import { systemChange, type ChangeParts } from '../../change.ts';
import { latestTime } from '../../checked-time.ts';
import type { Context } from '../../context.ts';
import { fail, isFailure, type Failure } from '../../failure.ts';
import { storeBlockmap } from '../../binaries/blockmap.ts';
import type { Findings } from '../../binaries/inspect-worker.ts';
import { createInspector, type Inspector } from '../../binaries/inspect.ts';
import { stampOf, type Keys } from '../../binaries/stamp.ts';
import { present } from '../../invariants.ts';
import { requireOwn } from '../uploads/index.ts';

type VerifyContext = ChangeParts &
  Pick<Context, 'storage' | 'config' | 'clock' | 'log'> & { inspector: Inspector };

/** The file of a release, and the known state of its bytes. */
export type StoredFile = Keys & {
  releaseId: string;
  sha512: string;
  /** The stamp of the storage when the bytes were last verified; null if they never were. */
  stamp: string | null;
  isDamaged: boolean;
};

const damaged = fail(
  'UNAVAILABLE',
  'The stored file of this release is damaged or missing: its bytes are not those that were uploaded. ' +
    'It is not delivered until the right file is back in the storage.',
  { retryAfter: 3600 },
);

const deleted = fail('NOT_FOUND', 'There is no such file.');

/** Of a file that is replaced again and again meanwhile; its next download compares it once more. */
const mostChecks = 3;

/**
 * Checks before a download whether the stored bytes are still those of the release, by the size and time from the
 * storage. If these changed, for example after a restore, the hash is verified, once for all concurrent calls.
 */
export function createFileCheck(context: VerifyContext) {
  const checking = new Map<string, Promise<boolean | undefined>>();
  return async (file: StoredFile): Promise<Failure | undefined> => {
    const stamp = await stampOf(context.storage, file);
    if (stamp !== undefined && stamp === file.stamp) return file.isDamaged ? damaged : undefined;
    if (stamp === undefined && file.isDamaged) return damaged;
    const verdict =
      checking.get(file.key) ?? verifyFile(context, file).finally(() => checking.delete(file.key));
    checking.set(file.key, verdict);
    const isRight = await verdict;
    return isRight === undefined ? deleted : isRight ? undefined : damaged;
  };
}
export type FileCheck = ReturnType<typeof createFileCheck>;

/**
 * Verifies the stored bytes against the hash of the release and records the result. A block map that does not match the
 * file is regenerated. Returns whether the file is right; undefined if the release was permanently deleted meanwhile, and
 * the file with it.
 */
async function verifyFile(context: VerifyContext, file: StoredFile): Promise<boolean | undefined> {
  const { storage, log } = context;
  const about = { releaseId: file.releaseId, key: file.key };
  let known = file.stamp;
  let isRight = false;
  for (let check = 0; check < mostChecks; check++) {
    const ofFile = await storage.stampOf(file.key);
    isRight = await compare(context, file, ofFile);
    const stamp = (await stampOf(storage, file)) ?? null;
    // Replaced while it was read: what was found says nothing of the bytes that are there. The block map may be another.
    if ((await storage.stampOf(file.key)) !== ofFile) continue;
    const row = await record(context, file, { isRight, stamp, known });
    if (!row) return undefined;
    if (row.stamp === stamp) {
      if (!isRight)
        log.error(about, 'The stored file of a release is damaged or missing; it is not delivered');
      return isRight;
    }
    known = row.stamp;
  }
  log.warn(about, 'The stored file of a release is replaced again and again; what was found is not recorded');
  return isRight;
}

type Found = { isRight: boolean; stamp: string | null; known: string | null };

/**
 * Records what was found: `damaged_at` removes the release from every feed and blocks its download until the bytes are
 * right again. Each transition writes one audit entry. Where the row has neither the stamp `known` nor the one found,
 * another check saw another file since this one began, perhaps a newer one: nothing is recorded. Returns the stamp of the row.
 */
function record(context: VerifyContext, file: StoredFile, { isRight, stamp, known }: Found) {
  const { log } = context;
  const about = { releaseId: file.releaseId, key: file.key };
  return systemChange(context, context.clock(), async ({ tx, now, ...change }) => {
    const before = await tx
      .selectFrom('releases')
      .select(['release_id as id', 'version', 'channel', 'platform', 'architecture'])
      .select(['damaged_at', 'file_name', 'step_started_at', 'storage_stamp'])
      .where('release_id', '=', file.releaseId)
      .forUpdate()
      .executeTakeFirst();
    if (!before) return undefined;
    if (before.storage_stamp !== known && before.storage_stamp !== stamp)
      return { stamp: before.storage_stamp };
    const latest = await latestTime(tx, now);
    const { step_started_at: began } = before;
    await tx
      .updateTable('releases')
      .set({
        storage_stamp: stamp,
        verified_at: now,
        damaged_at: isRight ? null : (before.damaged_at ?? now),
        // the hours of a step do not run while nobody is offered it; one with a start in the future has not begun
        ...(isRight && before.damaged_at && began && began < latest && { step_started_at: latest }),
        // nor the days of a deferral; its resume adds what was a pause as well
        ...(isRight &&
          before.damaged_at && {
            full_at: sql<Date | null>`full_at + greatest(interval '0', least(${latest}::timestamptz, paused_at) - greatest(damaged_at, full_at))`,
          }),
      })
      .where('release_id', '=', file.releaseId)
      .execute();
    await change.announce('releases');
    if (isRight === (before.damaged_at === null)) return { stamp };
    if (isRight) {
      log.info(about, 'The stored file of a release is right again');
      const what = `delivered again: the bytes of ${before.file_name} are right`;
      await change.audit('release.file_recovered', before, { what });
    } else {
      await change.audit('release.file_damaged', before, {
        what: `not delivered any more: ${before.file_name} is damaged or missing`,
        error: 'Its bytes are not those that were uploaded, or are missing.',
      });
    }
    return { stamp };
  });
}

/** Whether the stored bytes are those of the release; the block map of right ones is regenerated if it is wrong. */
async function compare(context: VerifyContext, file: StoredFile, stamp: string | undefined) {
  if (stamp === undefined) await requireOwn(context, context.clock());
  const findings = stamp === undefined ? undefined : await findingsOf(context, file);
  if (findings?.sha512 !== file.sha512) return false;
  await repairBlockmap(context, file, findings);
  return true;
}

async function findingsOf(context: VerifyContext, { key, blockmapKey }: Keys): Promise<Findings | undefined> {
  const { storage, inspector } = context;
  const bytes = await storage.read(key);
  if (!bytes) return undefined;
  const inspection = inspector.begin({ sha1: false, blockmap: blockmapKey !== null });
  try {
    for await (const piece of bytes as AsyncIterable<Buffer>) await inspection.addBytes(piece);
    return await inspection.finish();
  } catch (error) {
    return unreadableAsUndefined(error);
  } finally {
    inspection.drop();
  }
}

/** The error of an unreadable sector; all others are thrown. */
function unreadableAsUndefined(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'EIO') throw error;
}

/** Rewrites a missing or damaged block map, or removes it if that fails. */
async function repairBlockmap(
  { storage, log }: VerifyContext,
  { releaseId, key, blockmapKey }: StoredFile,
  findings: Findings,
): Promise<void> {
  if (blockmapKey === null) return;
  const right = Buffer.from(present(findings.blockmap, 'a file with a block map is inspected for it'));
  const isThere = (await storage.sizeOf(blockmapKey)) === right.length;
  const stored = isThere ? await storage.read(blockmapKey) : undefined;
  const bytes = stored && (await buffer(stored).catch(unreadableAsUndefined));
  if (bytes?.equals(right)) return;
  log.warn(
    { releaseId, key: blockmapKey },
    'The block map of a release was damaged or missing; it is made again',
  );
  if (isFailure(await storeBlockmap(storage, key, findings))) await storage.remove(blockmapKey);
}

/**
 * Verifies the file of every release that was not verified for a day (damaged ones: an hour), and logs how many were
 * wrong. Several processes share the work. `goesOn` is called after each file.
 */
export async function verifyFiles(
  context: Omit<VerifyContext, 'inspector'>,
  goesOn?: () => void,
): Promise<{ checked: number; damaged: number }> {
  const inspector = createInspector();
  try {
    return await verifyDueFiles({ ...context, inspector }, goesOn);
  } finally {
    await inspector.stop();
  }
}

async function verifyDueFiles(
  context: VerifyContext,
  goesOn?: () => void,
): Promise<{ checked: number; damaged: number }> {
  const { clock, log } = context;
  await requireOwn(context, clock());
  const before = (ms: number) => new Date(clock().getTime() - ms);
  const found = { checked: 0, damaged: 0 };
  for (;;) {
    const row = await systemChange(context, clock(), ({ tx, now }) =>
      tx
        .updateTable('releases')
        // keeps other processes from it: if the check does not end, it is due again in an hour
        .set({
          verified_at: sql<Date>`case when damaged_at is null then ${before(dayMs - hourMs)}::timestamptz else ${now} end`,
        })
        .where('release_id', '=', (eb) =>
          eb
            .selectFrom('releases')
            .select('release_id')
            .where('storage_key', 'is not', null)
            // Skips releases about to be purged: the purge would skip a locked row.
            .where((is) =>
              is.or([is('deleted_at', 'is', null), is('deleted_at', '>', before(trashDays * dayMs))]),
            )
            .where((is) =>
              is.or([
                is('verified_at', 'is', null),
                is('verified_at', '<=', before(dayMs)),
                is.and([is('damaged_at', 'is not', null), is('verified_at', '<=', before(hourMs))]),
              ]),
            )
            // so that one that cannot be read does not keep others from being checked
            .orderBy('verified_at', (order) => order.asc().nullsFirst())
            .limit(1)
            .forUpdate()
            .skipLocked(),
        )
        .returning(['release_id', 'storage_key', 'blockmap_key', 'sha512', 'storage_stamp', 'damaged_at'])
        .executeTakeFirst(),
    );
    if (!row) break;
    found.checked++;
    const isRight = await verifyFile(context, {
      releaseId: row.release_id,
      key: present(row.storage_key, 'the query asks for files in the storage'),
      blockmapKey: row.blockmap_key,
      sha512: row.sha512,
      stamp: row.storage_stamp,
      isDamaged: row.damaged_at !== null,
    });
    if (isRight === false) found.damaged++;
    goesOn?.();
  }
  if (found.checked > 0) log.info(found, 'Stored files were compared with their hashes');
  return found;
}
