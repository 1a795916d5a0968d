import { randomUUID } from 'node:crypto';
import { dayMs } from '../../../contract/durations.ts';
import { systemChange, type ChangeParts } from '../../change.ts';
import type { Context } from '../../context.ts';
import type { Db } from '../../db/client.ts';
import { nameOf, ownerName, StorageDown, type Storage, type StoredThing } from '../../storage/storage.ts';
import type { CheckedTime } from '../../checked-time.ts';
import { blockmapKeyOf, fileKeyOf, isOwnKey } from '../../binaries/storage-key.ts';

const atOnce = 500;

/**
 * Removes files older than a day that belong to no release, in the recycle bin or not, and to no open upload, such as
 * those of a process that stopped between the storage and the database. Only files with names in our format, and only in
 * a storage of this installation; otherwise it removes nothing and logs the reason. Returns the number removed.
 */
export async function removeOrphans(
  context: ChangeParts & Pick<Context, 'storage' | 'log'>,
  { now }: CheckedTime,
): Promise<number> {
  const { db, storage, log } = context;
  const refused = await whyNotOurs(context, now);
  if (refused !== undefined) {
    log.error(`The storage was not swept, for ${refused}`);
    return 0;
  }
  // newer files may belong to a running call
  const before = now.getTime() - dayMs;
  let removed = 0;
  for await (const things of ownThings(storage)) {
    const old = things.filter((thing) => thing.modifiedAt.getTime() < before);
    const known = await knownOf(db, old);
    for (const thing of old.filter(({ key, unfinished }) => !known.has(unfinished?.token ?? key))) {
      await (thing.unfinished ? storage.abandon(thing.unfinished) : storage.remove(thing.key));
      removed++;
    }
  }
  return removed;
}

/**
 * Throws StorageDown if the storage is not that of this installation: what it lacks says nothing about our files, and a
 * file that we put there would make it look like ours.
 */
export async function requireOwn(
  context: ChangeParts & Pick<Context, 'storage' | 'config'>,
  now: Date,
): Promise<void> {
  const refused = await whyNotOurs(context, now);
  if (refused !== undefined) throw new StorageDown(nameOf(context.config.storage), new Error(refused));
}

/**
 * Why the storage is not that of this installation. An unmarked storage is claimed if it holds binaries that we know, or
 * none while we know none; otherwise it belongs to another database, all of whose files would look like orphans, or it is
 * the empty folder of a disk that is not mounted, or of a process that does not share the storage.
 */
async function whyNotOurs(
  context: ChangeParts & Pick<Context, 'storage'>,
  now: Date,
): Promise<string | undefined> {
  const { db, storage } = context;
  const ours = await installationOf(context, now);
  const owner = await storage.readNote(ownerName);
  if (owner === ours) return undefined;
  if (owner === undefined && (await holdsOurs(db, storage))) {
    await storage.writeNote(ownerName, ours);
    return undefined;
  }
  const whose = owner === undefined ? 'none that the database knows' : `those of the installation ${owner}`;
  return (
    `the binaries in it are ${whose}; this installation is ${ours}. Give each installation a STORAGE_URL of its own, ` +
    `and all its processes the same. If all that lies there is this one's, write its id into ${ownerName} there.`
  );
}

/** The installation id of the database. A restored backup keeps it. */
const installationOf = (context: ChangeParts, now: Date): Promise<string> =>
  systemChange(context, now, async ({ tx }) => {
    await tx
      .insertInto('installation')
      .values({ installation_id: randomUUID() })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const found = await tx.selectFrom('installation').select('installation_id').executeTakeFirstOrThrow();
    return found.installation_id;
  });

async function holdsOurs(db: Db, storage: Storage): Promise<boolean> {
  let isEmpty = true;
  for await (const things of ownThings(storage)) {
    isEmpty = false;
    if ((await knownOf(db, things)).size > 0) return true;
  }
  return isEmpty && !(await haveFiles(db));
}

const haveFiles = async (db: Db): Promise<boolean> =>
  (await db
    .selectFrom('releases')
    .select('release_id')
    .where('storage_key', 'is not', null)
    .limit(1)
    .executeTakeFirst()) !== undefined;

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

/** The keys of releases and open uploads among these, and the tokens of open uploads: one begun anew has another token. */
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
