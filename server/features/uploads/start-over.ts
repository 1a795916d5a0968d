import { systemChange, type ChangeParts } from '../../change.ts';
import type { Context } from '../../context.ts';
import { fail, isFailure, type Failure } from '../../failure.ts';
import { checkOpen } from './chunk-lease.ts';
import { requireOwn } from './ownership.ts';
import { lockUpload, unfinishedOf, type UploadRow } from './upload-row.ts';

const chunksLost = fail(
  'CHUNKS_LOST',
  'The storage no longer has the chunks of this upload. All of them must be sent again.',
);

/**
 * Begins an upload again whose parts are gone: a rule of the bucket removed them, or they became the file of a
 * completion that was refused. Returns the failure for the caller: also when another call has begun it again; another for
 * an upload that was cancelled or completed, or is being completed by another call.
 */
export async function startOver(
  context: ChangeParts & Pick<Context, 'storage' | 'config' | 'clock'>,
  upload: UploadRow,
): Promise<Failure> {
  const { storage, clock } = context;
  await requireOwn(context, clock());
  const begun = await storage.begin(upload.file_key, upload.file_size);
  if (isFailure(begun)) return begun;
  let mayBeUsed = false;
  const refused = systemChange(context, clock(), async ({ tx, now }) => {
    mayBeUsed = false;
    const found = await lockUpload(tx, upload.upload_id);
    const isOurs = found?.claim === upload.claim;
    const open = checkOpen(isOurs ? { ...found, claim: null } : found, now);
    if (isFailure(open)) return open;
    if (open.multipart_id !== unfinishedOf(upload).token) return chunksLost;
    // the file of a refused completion, which has the size of the next one: that would be taken for finished
    await storage.remove(upload.file_key);
    await tx
      .updateTable('uploads')
      .set({ multipart_id: begun.token, claim: null, claimed_at: null, updated_at: now })
      .where('upload_id', '=', upload.upload_id)
      .execute();
    await tx.deleteFrom('upload_chunks').where('upload_id', '=', upload.upload_id).execute();
    // the response to its commit may be lost
    mayBeUsed = true;
    return undefined;
  });
  try {
    return (await refused) ?? chunksLost;
  } finally {
    // the sweep removes what stays
    if (!mayBeUsed) await storage.abandon(begun).catch(() => undefined);
  }
}
