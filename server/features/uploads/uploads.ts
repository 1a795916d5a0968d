import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import type { z } from 'zod';
import { dayMs } from '../../../contract/durations.ts';
import type { uploads, UploadState } from '../../../contract/uploads.ts';
import { actorId } from '../../caller.ts';
import { systemChange, type Change, type ChangeParts } from '../../change.ts';
import type { Context } from '../../context.ts';
import type { Db } from '../../db/client.ts';
import { fail, isFailure, type Failure } from '../../failure.ts';
import type { Unfinished } from '../../storage/storage.ts';
import { aheadOf, type CheckedTime } from '../../checked-time.ts';
import { tryEach } from '../../try-each.ts';
import { checkIdentity } from '../releases/index.ts';
import { requireOwn } from './ownership.ts';
import { acceptedKindOf } from '../../binaries/file-kind.ts';
import { blockmapKeyOf, newFileKey } from '../../binaries/storage-key.ts';
import {
  beingCompleted,
  findUpload,
  isClaimed,
  lockUpload,
  notFound,
  refuseOther,
  storedChunks,
  toUploadRecord,
  toUploadState,
  unfinishedOf,
} from './upload-row.ts';

/** Above the 5 MiB minimum of S3; small enough that six parallel chunks do not block other calls. */
const chunkSize = 8 * 1024 * 1024;
/** How long an ended upload still accepts a repeated `complete`. */
const keptMs = 7 * dayMs;

type PrepareInput = z.output<typeof uploads.prepare.body>;
type Prepared = { uploadId: string; fileKey: string; chunkSize: number; totalChunks: number };

/** Reserves storage before the transaction of `prepareUpload`; ALREADY_EXISTS when the release could not be created. */
export async function reserve(
  context: ChangeParts & Pick<Context, 'storage' | 'config' | 'clock'>,
  input: PrepareInput,
): Promise<Unfinished | Failure> {
  const fileKind = acceptedKindOf(input.fileName);
  const taken = await checkIdentity(context.db, { ...input, fileKind });
  if (taken) return taken;
  await requireOwn(context, context.clock());
  return context.storage.begin(newFileKey(fileKind), input.fileSize);
}

/** Records a chunked upload into the storage from `reserve`; `chunkSize` is in bytes. */
export async function prepareUpload(
  change: Change,
  input: PrepareInput,
  reserved: Unfinished,
): Promise<Prepared> {
  const { tx, by, now } = change;
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
      begun_by: actorId(by.actor),
      created_at: now,
      updated_at: now,
    })
    .execute();
  const after = { fileName, fileSize, version, channel, platform, architecture };
  const what = `begun, ${fileSize} bytes`;
  await change.audit('upload.begun', { ...upload, fileName, version }, { what, after });
  return upload;
}

/** The stored chunks of an upload. NOT_FOUND for a cancelled one. */
export async function getUploadState(db: Db, uploadId: string): Promise<UploadState | Failure> {
  const upload = await findUpload(db, uploadId);
  if (!upload || upload.status === 'cancelled') return notFound;
  const chunks = await storedChunks(db, uploadId);
  return toUploadState(
    upload,
    chunks.map((chunk) => chunk.index),
  );
}

/** Cancels an upload and removes its bytes; a repeated call changes nothing. */
export async function cancelUpload(
  change: Change,
  context: Pick<Context, 'storage' | 'log'>,
  uploadId: string,
): Promise<undefined | Failure> {
  const { tx, now } = change;
  const upload = await lockUpload(tx, uploadId);
  if (!upload) return notFound;
  const refused = refuseOther(change.by, upload);
  if (refused) return refused;
  if (upload.status === 'cancelled') return undefined;
  if (upload.status === 'completed')
    return fail('WRONG_STATE', 'This upload is complete. Delete its release instead.');
  if (isClaimed(upload, now)) return beingCompleted;
  await tx
    .updateTable('uploads')
    .set({ status: 'cancelled', updated_at: now })
    .where('upload_id', '=', uploadId)
    .execute();
  const { fileName, fileSize, version } = toUploadRecord(upload);
  await change.audit('upload.cancelled', toUploadRecord(upload), { before: { fileName, fileSize, version } });
  change.afterCommit(() => removeBytes(context, unfinishedOf(upload)));
  return undefined;
}

/** Also removes a finished file without a release. The sweep removes whatever fails here. */
export async function removeBytes({ storage, log }: Pick<Context, 'storage' | 'log'>, bytes: Unfinished) {
  try {
    await storage.abandon(bytes);
    await storage.remove(bytes.key);
    await storage.remove(blockmapKeyOf(bytes.key));
  } catch (error) {
    log.warn({ err: error }, 'The bytes of a cancelled or refused upload were left to the sweep');
  }
}

/**
 * Cancels uploads without activity for a day, and removes those that ended a week ago. Returns how many it cancelled. One
 * that a clock that was ahead has dated would be kept until then: its day begins now.
 */
export async function cancelAbandoned(
  context: ChangeParts & Pick<Context, 'storage' | 'log'>,
  time: CheckedTime,
): Promise<number> {
  const { now } = time;
  await systemChange(context, now, async ({ tx }) => {
    const ended = new Date(now.getTime() - keptMs);
    await tx.deleteFrom('uploads').where('status', '<>', 'open').where('updated_at', '<', ended).execute();
    const ahead = aheadOf(time);
    await tx.updateTable('uploads').set({ updated_at: now }).where('updated_at', '>', ahead).execute();
    await tx.updateTable('upload_chunks').set({ claimed_at: now }).where('claimed_at', '>', ahead).execute();
  });
  let cancelled = 0;
  await tryEach(
    await abandoned(context.db, now).execute(),
    async ({ upload_id }) => {
      const isCancelled = await systemChange(context, now, async (change) => {
        // removing the bytes of others takes long: this one may go on again
        await lockUpload(change.tx, upload_id);
        if (!(await abandoned(change.tx, now).where('upload_id', '=', upload_id).executeTakeFirst()))
          return false;
        return !isFailure(await cancelUpload(change, context, upload_id));
      });
      if (isCancelled) cancelled++;
    },
    (error, { upload_id: uploadId }) =>
      context.log.error({ err: error, uploadId }, 'An abandoned upload was not cancelled'),
  );
  return cancelled;
}

/** The open uploads of which no chunk was stored, or is on its way, for a day. */
function abandoned(db: Db, now: Date) {
  const since = new Date(now.getTime() - dayMs);
  return db
    .selectFrom('uploads as u')
    .select('upload_id')
    .where('status', '=', 'open')
    .where('updated_at', '<', since)
    .where(
      sql<boolean>`not exists (select from upload_chunks c where c.upload_id = u.upload_id and c.claimed_at >= ${since})`,
    );
}
