import type { Context } from '../../context.ts';
import { announce, transact } from '../../db/signals.ts';
import { fail, type Failure } from '../../failure.ts';
import type { Inspector } from './inspect.ts';

type Parts = Pick<Context, 'db' | 'storage' | 'signals' | 'clock' | 'log'> & { inspector: Inspector };

/** The file of a release, and what is known of its bytes. */
export type StoredFile = {
  releaseId: string;
  key: string;
  sha512: string;
  /** What the storage said when the bytes were last compared with the hash; null where they never were. */
  stamp: string | null;
  isDamaged: boolean;
};

const damaged = fail(
  'UNAVAILABLE',
  'The stored file of this release is damaged or missing: its bytes are not those that were uploaded. ' +
    'It is not delivered until the right file is back in the storage.',
  { retryAfter: 3600 },
);

/**
 * Tells before a delivery whether the stored bytes are still those of the release: by size and time, as the storage
 * says them. Where these changed, as after a restored backup, the hash decides, once for all who ask meanwhile.
 */
export function createFileCheck(parts: Parts) {
  const checking = new Map<string, Promise<boolean>>();
  return async (file: StoredFile): Promise<Failure | undefined> => {
    const stamp = await parts.storage.stampOf(file.key);
    if (stamp !== undefined && stamp === file.stamp) return file.isDamaged ? damaged : undefined;
    if (stamp === undefined && file.isDamaged) return damaged;
    const verdict =
      checking.get(file.key) ?? verifyFile(parts, file).finally(() => checking.delete(file.key));
    checking.set(file.key, verdict);
    return (await verdict) ? undefined : damaged;
  };
}
export type FileCheck = ReturnType<typeof createFileCheck>;

/**
 * Compares the stored bytes with the hash of the release and records the outcome: `damaged_at` takes the release out
 * of every feed and keeps its file from being delivered; the right bytes bring it back. True when they are right.
 */
export async function verifyFile(parts: Parts, file: StoredFile): Promise<boolean> {
  const { db, signals, clock, log } = parts;
  // before the bytes are read: what changes meanwhile is looked at again
  const stamp = await parts.storage.stampOf(file.key);
  const isRight = stamp !== undefined && (await hashOf(parts, file.key)) === file.sha512;
  const about = { releaseId: file.releaseId, key: file.key };
  if (!isRight) log.error(about, 'The stored file of a release is damaged or missing; it is not delivered');
  else if (file.isDamaged) log.info(about, 'The stored file of a release is right again');
  const now = clock();
  await transact(db, signals, async (tx) => {
    await tx
      .updateTable('releases')
      .set((eb) => ({
        storage_stamp: stamp ?? null,
        verified_at: now,
        damaged_at: isRight ? null : eb.fn.coalesce('damaged_at', eb.val(now)),
      }))
      .where('release_id', '=', file.releaseId)
      .execute();
    await announce(tx, 'releases');
  });
  return isRight;
}

async function hashOf({ storage, inspector }: Parts, key: string): Promise<string | undefined> {
  const bytes = await storage.read(key);
  if (!bytes) return undefined;
  const inspection = inspector.begin({ sha1: false, blockmap: false });
  try {
    for await (const piece of bytes as AsyncIterable<Buffer>) await inspection.addBytes(piece);
    return (await inspection.finish()).sha512;
  } catch (error) {
    // a sector that cannot be read
    if ((error as NodeJS.ErrnoException).code === 'EIO') return undefined;
    throw error;
  } finally {
    inspection.drop();
  }
}

const dayMs = 24 * 3_600_000;
const hourMs = 3_600_000;

/**
 * Compares with its hash the file of every release that was not compared for a day, a damaged one for an hour, and
 * says in the log how many were not right. Several processes share the work.
 */
export async function verifyDueFiles(parts: Parts): Promise<{ checked: number; damaged: number }> {
  const { db, clock, log } = parts;
  const before = (ms: number) => new Date(clock().getTime() - ms);
  const found = { checked: 0, damaged: 0 };
  for (;;) {
    const row = await db
      .updateTable('releases')
      .set({ verified_at: clock() })
      .where('release_id', '=', (eb) =>
        eb
          .selectFrom('releases')
          .select('release_id')
          .where('storage_key', 'is not', null)
          .where((is) =>
            is.or([
              is('verified_at', 'is', null),
              is('verified_at', '<=', before(dayMs)),
              is.and([is('damaged_at', 'is not', null), is('verified_at', '<=', before(hourMs))]),
            ]),
          )
          .orderBy('release_id')
          .limit(1)
          .forUpdate()
          .skipLocked(),
      )
      .returning(['release_id', 'storage_key', 'sha512', 'storage_stamp', 'damaged_at'])
      .executeTakeFirst();
    if (!row) break;
    found.checked++;
    const isRight = await verifyFile(parts, {
      releaseId: row.release_id,
      key: row.storage_key!,
      sha512: row.sha512,
      stamp: row.storage_stamp,
      isDamaged: row.damaged_at !== null,
    });
    if (!isRight) found.damaged++;
  }
  if (found.checked > 0) log.info(found, 'Stored files were compared with their hashes');
  return found;
}
