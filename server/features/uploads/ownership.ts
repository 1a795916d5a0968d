import { randomUUID } from 'node:crypto';
import { isOwnKey } from '../../binaries/storage-key.ts';
import { systemChange, type ChangeParts } from '../../change.ts';
import type { Context } from '../../context.ts';
import type { Db } from '../../db/client.ts';
import { ForeignStorage, nameOf, ownerName, type Storage } from '../../storage/storage.ts';

type OwnershipContext = ChangeParts & Pick<Context, 'storage' | 'config'>;

/** The ids that this process tried to give: the answer to a write may be lost, and its storage is ours all the same. */
const begun = new WeakMap<Storage, string>();

/** Each costs a request to a storage that is not ours. */
const newestLookedFor = 10;

/**
 * Throws ForeignStorage if the storage is not that of this installation: what it lacks says nothing about our files, a
 * file that we put there would be found by no other process, and all files of another database look like orphans.
 *
 * The database and the storage hold the same id. The first storage of a database gets it if neither an id nor binaries lie
 * there, and later one without an id that has one of the newest binaries, as when these were moved.
 */
export async function requireOwn(context: OwnershipContext, now: Date): Promise<void> {
  const { db, storage } = context;
  const ours = await installationOf(db);
  const owner = await storage.readNote(ownerName);
  if (ours !== undefined && owner === ours) return;
  const isMoved = owner === undefined && (await hasNewest(db, storage));
  if (isMoved || (ours === undefined && (await isEmpty(storage)))) {
    // another process may have been the first, with a storage of its own
    if (!(await claim(context, now, isMoved))) await requireOwn(context, now);
    return;
  }
  // another process has become the first meanwhile, and put a file there
  if (ours === undefined && (await installationOf(db)) !== undefined) return requireOwn(context, now);
  throw foreign(context, ours, owner);
}

const foreign = ({ config }: OwnershipContext, ours?: string, owner?: string) =>
  new ForeignStorage(nameOf(config.storage), whyNotOurs(ours, owner));

function whyNotOurs(ours: string | undefined, owner: string | undefined): string {
  const has =
    owner !== undefined
      ? `It is marked as the storage of the installation ${owner}`
      : ours !== undefined
        ? `It has neither ${ownerName} nor any of the newest binaries, like an empty folder where a disk is not mounted`
        : 'It holds binaries that the database does not know';
  return ours !== undefined
    ? `${has}. Mount the disk, or correct STORAGE_URL: it is the same for all processes of an installation, and for no other. ` +
        `If this is its storage now, write ${ours} into ${ownerName} there.`
    : `${has}. Give this installation a STORAGE_URL of its own, or remove ${owner === undefined ? 'the binaries' : `the binaries and ${ownerName}`} there.`;
}

const installationOf = async (db: Db): Promise<string | undefined> =>
  (await db.selectFrom('installation').select('installation_id').executeTakeFirst())?.installation_id;

/**
 * Writes the id of the installation into the storage; for one that is not `isMoved`, only if the database has none yet,
 * else false. In one transaction, so that the database has no id which no storage has.
 */
const claim = (context: OwnershipContext, now: Date, isMoved: boolean): Promise<boolean> =>
  systemChange(context, now, async ({ tx }) => {
    const next = begun.get(context.storage) ?? randomUUID();
    begun.set(context.storage, next);
    const made = await tx
      .insertInto('installation')
      .values({ installation_id: next })
      .onConflict((conflict) => conflict.doNothing())
      .returning('installation_id')
      .executeTakeFirst();
    // no other process of this installation is writing it now
    const owner = made && (await context.storage.readNote(ownerName));
    if (owner !== undefined && owner !== next) throw foreign(context, undefined, owner);
    const id = made?.installation_id ?? (isMoved ? await installationOf(tx) : undefined);
    if (id !== undefined) await context.storage.writeNote(ownerName, id);
    return id !== undefined;
  });

async function hasNewest(db: Db, storage: Storage): Promise<boolean> {
  const newest = await db
    .selectFrom('releases')
    .select('storage_key')
    .where('storage_key', 'is not', null)
    .orderBy('created_at', 'desc')
    .limit(newestLookedFor)
    .$narrowType<{ storage_key: string }>()
    .execute();
  const sizes = await Promise.all(newest.map(({ storage_key: key }) => storage.sizeOf(key)));
  return sizes.some((size) => size !== undefined);
}

async function isEmpty(storage: Storage): Promise<boolean> {
  for await (const { key } of storage.list()) if (isOwnKey(key)) return false;
  return true;
}
