import { v7 as uuidv7 } from 'uuid';
import type { z } from 'zod';
import type { uploads, UploadState } from '../../../contract/uploads.ts';
import { systemCaller, type Caller } from '../../caller.ts';
import type { Context } from '../../context.ts';
import type { Db, Tx } from '../../db/client.ts';
import { afterCommit, transact } from '../../db/signals.ts';
import { fail, type Failure } from '../../failure.ts';
import type { StoredThing, Unfinished } from '../../storage/storage.ts';
import { writeAudit } from '../audit/audit.ts';
import { checkIdentity } from '../releases/releases.ts';
import { blockmapKeyOf } from './build.ts';
import { kindOf } from './file-kind.ts';
import {
  beingCompleted,
  findUpload,
  isClaimed,
  lockUpload,
  notFound,
  storedChunks,
  toUploadState,
  unfinishedOf,
  type UploadRow,
} from './upload-row.ts';

export { createInspector } from './inspect.ts';

/** Above the 5 MiB that S3 asks of a part; six at once leave other calls of a browser a turn soon enough. */
const chunkSize = 8 * 1024 * 1024;
const dayMs = 24 * 3_600_000;
/** How long an ended upload still answers a repeated `complete`. */
const keptMs = 7 * dayMs;

type PrepareInput = z.output<typeof uploads.prepare.body>;
type Prepared = { uploadId: string; fileKey: string; chunkSize: number; totalChunks: number };

/**
 * Makes room in the storage, before the transaction of `prepareUpload` opens; ALREADY_EXISTS when the release could
 * not be made.
 */
export async function reserve(
  { db, storage }: Pick<Context, 'db' | 'storage'>,
  input: PrepareInput,
): Promise<Unfinished | Failure> {
  const fileKind = kindOf(input.fileName)!;
  const taken = await checkIdentity(db, { ...input, fileKind });
  return taken ?? storage.begin(`${uuidv7()}.${fileKind}`, input.fileSize);
}

/** Begins a chunked upload. */
export async function prepareUpload(
  tx: Tx,
  by: Caller,
  input: PrepareInput,
  reserved: Unfinished,
): Promise<Prepared> {
  const { fileName, fileSize, version, channel, platform, architecture } = input;
  const totalChunks = Math.ceil(fileSize / chunkSize);
  const upload = { uploadId: uuidv7(), fileKey: reserved.key, chunkSize, totalChunks };
  await tx
    .insertInto('uploads')
    .values({
      upload_id: upload.uploadId,
      file_key: reserved.key,
      multipart_id: reserved.token,
      file_name: fileName,
      file_size: fileSize,
      chunk_size: chunkSize,
      total_chunks: totalChunks,
      version,
      channel,
      platform,
      architecture,
      release_id: uuidv7(),
      claim: null,
      claimed_at: null,
      created_at: by.now,
      updated_at: by.now,
    })
    .execute();
  await writeAudit(tx, by, {
    event: 'upload.begun',
    resourceType: 'upload',
    resourceId: upload.uploadId,
    summary: `Began the upload of ${fileName} (${fileSize} bytes) as ${version}`,
    after: { fileName, fileSize, version, channel, platform, architecture },
  });
  return upload;
}

/** Which chunks of an upload are stored. A cancelled one is not found. */
export async function getUploadState(db: Db, uploadId: string): Promise<UploadState | Failure> {
  const upload = await findUpload(db, uploadId);
  if (!upload || upload.status === 'cancelled') return notFound;
  const chunks = await storedChunks(db, uploadId);
  return toUploadState(
    upload,
    chunks.map((chunk) => chunk.index),
  );
}

/** Gives an upload up and removes its bytes; a repeated call changes nothing. */
export async function cancelUpload(
  tx: Tx,
  by: Caller,
  context: Pick<Context, 'storage' | 'log'>,
  uploadId: string,
): Promise<undefined | Failure> {
  const upload = await lockUpload(tx, uploadId);
  if (!upload) return notFound;
  if (upload.status === 'cancelled') return undefined;
  if (upload.status === 'completed')
    return fail('WRONG_STATE', 'This upload is complete. Delete its release instead.');
  if (isClaimed(upload, by.now)) return beingCompleted;
  await tx
    .updateTable('uploads')
    .set({ status: 'cancelled', updated_at: by.now })
    .where('upload_id', '=', uploadId)
    .execute();
  await writeAudit(tx, by, {
    event: 'upload.cancelled',
    resourceType: 'upload',
    resourceId: uploadId,
    summary: `Cancelled the upload of ${upload.file_name} (${upload.file_size} bytes)`,
    before: { fileName: upload.file_name, fileSize: upload.file_size, version: upload.version },
  });
  afterCommit(tx, () => removeBytes(context, upload));
  return undefined;
}

/** Also what was finished before the release could be made. What fails here is left to the sweep. */
async function removeBytes({ storage, log }: Pick<Context, 'storage' | 'log'>, upload: UploadRow) {
  try {
    await storage.abandon(unfinishedOf(upload));
    await storage.remove(upload.file_key);
    await storage.remove(blockmapKeyOf(upload.file_key));
  } catch (error) {
    log.warn({ err: error }, 'The bytes of a cancelled upload were left to the sweep');
  }
}

/** Cancels uploads that nobody touched for a day, and forgets those that ended a week ago. */
export async function cancelAbandoned(context: Context): Promise<number> {
  const { db, signals } = context;
  const now = context.clock();
  await db
    .deleteFrom('uploads')
    .where('status', '<>', 'open')
    .where('updated_at', '<', new Date(now.getTime() - keptMs))
    .execute();
  const abandoned = await db
    .selectFrom('uploads')
    .select('upload_id')
    .where('status', '=', 'open')
    .where('updated_at', '<', new Date(now.getTime() - dayMs))
    .execute();
  for (const { upload_id } of abandoned)
    await transact(db, signals, (tx) => cancelUpload(tx, systemCaller(now), context, upload_id));
  return abandoned.length;
}

/**
 * Removes from the storage what is older than a day and belongs to no release, in the bin or not, and to no open
 * upload: what a process left behind that ended between the storage and the database. Answers how many.
 */
export async function removeOrphans({ db, storage, clock }: Context): Promise<number> {
  const before = clock().getTime() - dayMs;
  const old: StoredThing[] = [];
  let removed = 0;
  const removeUnknown = async () => {
    const things = old.splice(0);
    const known = await knownKeys(db, things);
    for (const thing of things.filter(({ key }) => !known.has(key))) {
      await (thing.unfinished ? storage.abandon(thing.unfinished) : storage.remove(thing.key));
      removed++;
    }
  };
  for await (const thing of storage.list()) {
    if (thing.modifiedAt.getTime() < before) old.push(thing);
    if (old.length === 500) await removeUnknown();
  }
  await removeUnknown();
  return removed;
}

async function knownKeys(db: Db, things: StoredThing[]): Promise<Set<string>> {
  if (things.length === 0) return new Set();
  const keys = things.map((thing) => thing.key);
  const known = new Set<string>();
  // uploads are asked first: one that becomes a release meanwhile is met a second time
  const open = await db
    .selectFrom('uploads')
    .select('file_key')
    .where('status', '=', 'open')
    .where(
      'file_key',
      'in',
      keys.map((key) => key.replace(/\.blockmap$/, '')),
    )
    .execute();
  for (const { file_key } of open) known.add(file_key).add(blockmapKeyOf(file_key));
  const released = await db
    .selectFrom('releases')
    .select(['storage_key', 'blockmap_key'])
    .where((eb) => eb.or([eb('storage_key', 'in', keys), eb('blockmap_key', 'in', keys)]))
    .execute();
  for (const { storage_key, blockmap_key } of released)
    known.add(storage_key!).add(blockmap_key ?? storage_key!);
  return known;
}
