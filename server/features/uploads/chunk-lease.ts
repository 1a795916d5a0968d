import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { systemChange, type ChangeParts } from '../../change.ts';
import type { Db, Tx } from '../../db/client.ts';
import { countOf } from '../../db/sql.ts';
import { fail, isFailure, type Failure } from '../../failure.ts';
import {
  beingCompleted,
  cancelled,
  findUpload,
  isClaimed,
  leaseMs,
  leaseTimes,
  lockUpload,
  notFound,
  type UploadRow,
} from './upload-row.ts';

type LeaseContext = ChangeParts & { clock: () => Date };
type Chunk = { uploadId: string; index: number };

/** The right of one connection to write a chunk, until it is returned or lost. */
export type ChunkLease = Chunk & { claim: string; renewedAt: Date };

const pollMs = 100;
export const takenOver = fail('WRONG_STATE', 'Another connection has taken this chunk over.');
const beingSent = fail('WRONG_STATE', 'This chunk is being sent by another connection.');

/**
 * Leases a chunk to one connection. While another connection sends it, waits until that one finishes (`stored`), stops,
 * or its lease expires. Waits slightly longer than a lease, so that one retry is enough after a broken connection or a
 * killed server.
 */
export async function leaseChunk(
  context: LeaseContext,
  chunk: Chunk,
  isGone: () => boolean,
): Promise<ChunkLease | 'stored' | Failure> {
  const until = performance.now() + leaseMs + 2000;
  for (let isFirst = true; ; isFirst = false) {
    const got = await tryLease(context, chunk, isFirst);
    if (got !== 'held') return got;
    if (isGone() || performance.now() > until) return beingSent;
    await sleep(pollMs);
  }
}

async function tryLease(
  context: LeaseContext,
  { uploadId, index }: Chunk,
  mayReplace: boolean,
): Promise<ChunkLease | 'stored' | 'held' | Failure> {
  const claim = randomUUID();
  return systemChange(context, context.clock(), async ({ tx, now }) => {
    const { from, to } = leaseTimes(now);
    // not a share lock: two chunks that hold one would wait for each other below, where both end the completion
    const upload = checkOpen(await lockUpload(tx, uploadId), now);
    if (isFailure(upload)) return upload;
    const { rows } = await sql`
      insert into upload_chunks as c (upload_id, index, claim, claimed_at)
      values (${uploadId}, ${index}, ${claim}, ${now})
      on conflict (upload_id, index) do update
        set claim = excluded.claim, claimed_at = excluded.claimed_at, done_at = null, etag = null
        where (c.claim is null or c.claimed_at not between ${from} and ${to}) and (c.done_at is null or ${mayReplace})
      returning 1`.execute(tx);
    if (rows.length > 0) {
      // a completion that froze until its claim expired has hashed other bytes than this chunk will have
      if (upload.claim !== null)
        await tx.updateTable('uploads').set({ claim: null }).where('upload_id', '=', uploadId).execute();
      return { uploadId, index, claim, renewedAt: now };
    }
    const { done_at } = await tx
      .selectFrom('upload_chunks')
      .select('done_at')
      .where('upload_id', '=', uploadId)
      .where('index', '=', index)
      .executeTakeFirstOrThrow();
    return done_at ? 'stored' : 'held';
  });
}

/** The upload if it accepts chunks, otherwise a Failure. */
export function checkOpen(upload: UploadRow | undefined, now: Date): UploadRow | Failure {
  if (!upload) return notFound;
  if (upload.status === 'cancelled') return cancelled;
  if (upload.status === 'completed') return fail('WRONG_STATE', 'This upload is complete.');
  return isClaimed(upload, now) ? beingCompleted : upload;
}

/** Thrown into the byte stream of a connection that lost its lease. */
export class LeaseLost extends Error {}

/** Renews a lease while bytes arrive; throws LeaseLost when another connection has taken it. */
export async function renew(context: LeaseContext, held: ChunkLease): Promise<void> {
  const now = context.clock();
  if (Math.abs(now.getTime() - held.renewedAt.getTime()) < leaseMs / 3) return;
  const { numUpdatedRows } = await systemChange(context, now, ({ tx }) =>
    leasedChunk(tx, held).set({ claimed_at: now }).executeTakeFirst(),
  );
  if (numUpdatedRows === 0n) throw new LeaseLost();
  held.renewedAt = now;
}

/** Ends a lease early; the chunk is not stored. */
export const returnLease = (context: LeaseContext, held: ChunkLease): Promise<unknown> =>
  systemChange(context, context.clock(), ({ tx }) =>
    leasedChunk(tx, held).set({ claim: null, claimed_at: null }).execute(),
  );

/** Records that the bytes are on stable storage, and returns the number of stored chunks. */
export function recordStored(
  context: LeaseContext,
  held: ChunkLease,
  etag: string,
): Promise<number | Failure> {
  return systemChange(context, context.clock(), async ({ tx, now }) => {
    const { numUpdatedRows: open } = await tx
      .updateTable('uploads')
      .set({ updated_at: now })
      .where('upload_id', '=', held.uploadId)
      .where('status', '=', 'open')
      .executeTakeFirst();
    if (open === 0n) return (await findUpload(tx, held.uploadId)) ? cancelled : notFound;
    const { numUpdatedRows: kept } = await leasedChunk(tx, held)
      .set({ claim: null, claimed_at: null, done_at: now, etag })
      .executeTakeFirst();
    return kept === 0n ? takenOver : countStored(tx, held.uploadId);
  });
}

export const countStored = (db: Db, uploadId: string) =>
  countOf(db.selectFrom('upload_chunks').where('upload_id', '=', uploadId).where('done_at', 'is not', null));

const leasedChunk = (tx: Tx, { uploadId, index, claim }: ChunkLease) =>
  tx
    .updateTable('upload_chunks')
    .where('upload_id', '=', uploadId)
    .where('index', '=', index)
    .where('claim', '=', claim);
