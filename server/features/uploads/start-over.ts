import { systemChange, type ChangeParts } from '../../change.ts';
import type { Context } from '../../context.ts';
import { fail, isFailure, type Failure } from '../../failure.ts';
import { cancelled, findUpload, unfinishedOf, type UploadRow } from './upload-row.ts';

const chunksLost = fail(
  'CHUNKS_LOST',
  'The storage no longer has the chunks of this upload. All of them must be sent again.',
);

/**
 * Begins an upload anew whose parts are gone: a rule of the bucket removed them, or they became the file of a
 * completion that was refused. Returns the failure for the caller: also when another call has begun it
 * anew; another for an upload that was cancelled meanwhile.
 */
export async function startOver(
  context: ChangeParts & Pick<Context, 'storage' | 'clock'>,
  upload: UploadRow,
): Promise<Failure> {
  const { storage, clock } = context;
  const begun = await storage.begin(upload.file_key, upload.file_size);
  if (isFailure(begun)) return begun;
  const isOurs = await systemChange(context, clock(), async ({ tx, now }) => {
    const { numUpdatedRows } = await tx
      .updateTable('uploads')
      .set({ multipart_id: begun.token, updated_at: now })
      .where('upload_id', '=', upload.upload_id)
      .where('multipart_id', '=', unfinishedOf(upload).token)
      .where('status', '=', 'open')
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    await tx.deleteFrom('upload_chunks').where('upload_id', '=', upload.upload_id).execute();
    return true;
  });
  if (isOurs) return chunksLost;
  await storage.abandon(begun);
  const found = await findUpload(context.db, upload.upload_id);
  return found?.status === 'cancelled' ? cancelled : chunksLost;
}
