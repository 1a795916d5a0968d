import { dayMs } from '../../../contract/durations.ts';
import type { ChangeParts } from '../../change.ts';
import type { Context } from '../../context.ts';
import type { Db } from '../../db/client.ts';
import type { Storage, StoredThing } from '../../storage/storage.ts';
import type { CheckedTime } from '../../checked-time.ts';
import { blockmapKeyOf, fileKeyOf, isOwnKey } from '../../binaries/storage-key.ts';
import { tryEach } from '../../try-each.ts';
import { requireOwn } from './ownership.ts';

const atOnce = 500;

/**
 * Removes files older than a day that belong to no release, in the recycle bin or not, and to no open upload, such as
 * those of a process that stopped between the storage and the database. Only files with names in our format, and only in
 * the storage of this installation. Returns the number removed.
 */
export async function removeOrphans(
  context: ChangeParts & Pick<Context, 'storage' | 'config' | 'log'>,
  { now }: CheckedTime,
): Promise<number> {
  const { db, storage, log } = context;
  await requireOwn(context, now);
  let removed = 0;
  await tryEach(
    // newer files may belong to a running call
    orphansOf(db, storage, now.getTime() - dayMs),
    async ({ key, unfinished }) => {
      await (unfinished ? storage.abandon(unfinished) : storage.remove(key));
      removed++;
    },
    async (error, { key }) => {
      log.error({ err: error, key }, 'A stored file that belongs to nothing was not removed');
      // not one attempt for each file in an outage
      await storage.check();
    },
  );
  return removed;
}

async function* orphansOf(db: Db, storage: Storage, before: number): AsyncGenerator<StoredThing, void> {
  for await (const things of ownThings(storage)) {
    const old = things.filter((thing) => thing.modifiedAt.getTime() < before);
    const known = await knownOf(db, old);
    yield* old.filter(({ key, unfinished }) => !known.has(unfinished?.token ?? key));
  }
}

/** Stored files with names in our format, some hundred at a time. */
async function* ownThings(storage: Storage): AsyncGenerator<StoredThing[], void> {
  let things: StoredThing[] = [];
  for await (const thing of storage.list()) {
    if (isOwnKey(thing.key)) things.push(thing);
    if (things.length < atOnce) continue;
    yield things;
    things = [];
  }
  if (things.length > 0) yield things;
}

/** The keys of releases and open uploads among these, and the tokens of open uploads: one begun again has another token. */
async function knownOf(db: Db, things: StoredThing[]): Promise<Set<string | null>> {
  if (things.length === 0) return new Set();
  const keys = things.map((thing) => thing.key);
  const known = new Set<string | null>();
  // query uploads first: one that becomes a release meanwhile is found as a release
  const open = await db
    .selectFrom('uploads')
    .select(['file_key', 'multipart_id'])
    .where('status', '=', 'open')
    .where('file_key', 'in', keys.map(fileKeyOf))
    .execute();
  for (const { file_key, multipart_id } of open)
    known.add(file_key).add(blockmapKeyOf(file_key)).add(multipart_id);
  const released = await db
    .selectFrom('releases')
    .select(['storage_key', 'blockmap_key'])
    .where((eb) => eb.or([eb('storage_key', 'in', keys), eb('blockmap_key', 'in', keys)]))
    .execute();
  for (const { storage_key, blockmap_key } of released) known.add(storage_key).add(blockmap_key);
  return known;
}
