import type { Selectable } from 'kysely';
import type { UploadState } from '../../../contract/uploads.ts';
import { actorId, type Caller } from '../../caller.ts';
import type { Db, Tx } from '../../db/client.ts';
import type { Tables } from '../../db/tables.ts';
import { fail, noSuch, type Failure } from '../../failure.ts';
import type { Part, Unfinished } from '../../storage/storage.ts';
import { present } from '../../invariants.ts';

export type UploadRow = Selectable<Tables['uploads']>;

export const notFound = noSuch('upload');
export const cancelled = fail('WRONG_STATE', 'This upload was cancelled.');
export const beingCompleted = fail('WRONG_STATE', 'This upload is being completed.');

/** FORBIDDEN for an API key that did not start the upload; staff may finish or cancel what a colleague or a key left. */
export const refuseOther = ({ actor }: Caller, upload: UploadRow): Failure | undefined =>
  actor.kind === 'apiKey' && upload.begun_by !== actorId(actor)
    ? fail('FORBIDDEN', 'This upload was started by another caller.')
    : undefined;

/** A claim that was not renewed for this long belongs to a closed connection or a stopped process. */
export const leaseMs = 10_000;

/** Claims renewed at other times are void: too long ago, or by a clock that was ahead and has been set right. */
export const leaseTimes = (now: Date) => ({
  from: new Date(now.getTime() - leaseMs),
  to: new Date(now.getTime() + leaseMs),
});

export function isClaimed(row: { claim: string | null; claimed_at: Date | null }, now: Date): boolean {
  const { from, to } = leaseTimes(now);
  return row.claim !== null && row.claimed_at !== null && row.claimed_at >= from && row.claimed_at <= to;
}

/** The current upload, without a lock. */
export function findUpload(db: Db, uploadId: string): Promise<UploadRow | undefined> {
  return db.selectFrom('uploads').selectAll().where('upload_id', '=', uploadId).executeTakeFirst();
}

/** The upload, locked until the transaction ends. */
export function lockUpload(tx: Tx, uploadId: string): Promise<UploadRow | undefined> {
  return tx
    .selectFrom('uploads')
    .selectAll()
    .where('upload_id', '=', uploadId)
    .forUpdate()
    .executeTakeFirst();
}

/** The stored chunks in order, with the storage's tag of each. */
export async function storedChunks(db: Db, uploadId: string): Promise<{ index: number; etag: string }[]> {
  const rows = await db
    .selectFrom('upload_chunks')
    .select(['index', 'etag'])
    .where('upload_id', '=', uploadId)
    .where('done_at', 'is not', null)
    .orderBy('index')
    .execute();
  return rows as { index: number; etag: string }[];
}

export const unfinishedOf = (upload: UploadRow): Unfinished => ({
  key: upload.file_key,
  size: upload.file_size,
  token: present(upload.multipart_id, 'an upload in chunks is begun in the storage first'),
});

/** The position of a chunk; every chunk but the last has the full size. */
export function partOf(upload: UploadRow, index: number): Part {
  const offset = index * upload.chunk_size;
  return { index, offset, length: Math.min(upload.chunk_size, upload.file_size - offset) };
}

export function toUploadState(upload: UploadRow, received: number[]): UploadState {
  const isCompleted = upload.status === 'completed';
  return {
    uploadId: upload.upload_id,
    fileKey: upload.file_key,
    fileName: upload.file_name,
    fileSize: upload.file_size,
    chunkSize: upload.chunk_size,
    totalChunks: upload.total_chunks,
    received,
    status: isCompleted ? 'completed' : 'open',
    releaseId: isCompleted ? upload.release_id : null,
  };
}

export const toUploadRecord = (upload: UploadRow) => ({
  uploadId: upload.upload_id,
  fileName: upload.file_name,
  fileSize: upload.file_size,
  version: upload.version,
});
