import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { actorId, type Caller } from '../../caller.ts';
import type { ChangeParts } from '../../change.ts';
import type { Context } from '../../context.ts';
import { CarriedFailure, fail, isFailure, type Failure } from '../../failure.ts';
import { ArrivedTooSlowly } from '../../http/arrivals.ts';
import { notUnfinished, StorageDown } from '../../storage/storage.ts';
import {
  leaseChunk,
  LeaseLost,
  countStored,
  recordStored,
  checkOpen,
  returnLease,
  renew,
  takenOver,
  type ChunkLease,
} from './chunk-lease.ts';
import type { IncrementalHash } from './incremental-hash.ts';
import { startOver } from './start-over.ts';
import { cancelled, findUpload, partOf, unfinishedOf, type UploadRow } from './upload-row.ts';

type ChunkContext = ChangeParts &
  Pick<Context, 'storage' | 'config' | 'clock' | 'log'> & { incrementalHash: IncrementalHash };
type Answer = { index: number; received: number };

/** Thrown into the stream when a chunk has the wrong length. */
class WrongLength extends CarriedFailure {}

/**
 * Receives one chunk: writes its bytes as they arrive, and records it when they are on stable storage. A repeated chunk
 * replaces the stored one; of concurrent requests one writes, and the others return that it is stored. Only the caller
 * who started the upload may send chunks. A chunk that is too short, too long or aborted is not recorded.
 */
export async function receiveChunk(
  context: ChunkContext,
  { actor }: Caller,
  { uploadId, index }: { uploadId: string; index: number },
  request: IncomingMessage,
  bytes: Readable,
): Promise<Answer | Failure> {
  const upload = checkOpen(await findUpload(context.db, uploadId), context.clock());
  if (isFailure(upload)) return upload;
  if (upload.begun_by !== actorId(actor))
    return fail('FORBIDDEN', 'Only the caller that started an upload may send its chunks.');
  if (index >= upload.total_chunks)
    return fail('NOT_FOUND', `This upload has ${upload.total_chunks} chunks; there is no chunk ${index}.`);
  const { length } = partOf(upload, index);
  const announced = request.headers['content-length'];
  if (announced !== undefined && Number(announced) !== length) return wrongLength(Number(announced), length);

  const lease = await leaseChunk(context, { uploadId, index }, () => request.destroyed);
  if (isFailure(lease)) return lease;
  if (lease === 'stored') {
    // the chunk is stored, whatever becomes of these bytes
    await drain(bytes).catch(() => undefined);
    return { index, received: await countStored(context.db, uploadId) };
  }
  try {
    return await store(context, upload, lease, bytes);
  } finally {
    // drain the rest of a refused chunk, which would block the connection
    bytes.resume();
  }
}

async function store(
  context: ChunkContext,
  upload: UploadRow,
  lease: ChunkLease,
  bytes: Readable,
): Promise<Answer | Failure> {
  const { storage, incrementalHash } = context;
  const part = partOf(upload, lease.index);
  let stored: string | Failure;
  try {
    stored = await storage.writePart(
      unfinishedOf(upload),
      part,
      checked(context, lease, part.length, bytes),
      lease.claim,
    );
  } catch (error) {
    await endLease(context, lease);
    if (error instanceof WrongLength) return error.failure;
    if (error instanceof LeaseLost) return takenOver;
    if (error instanceof ArrivedTooSlowly || error instanceof StorageDown) throw error;
    if (bytes.destroyed && !bytes.readableEnded)
      return fail('INVALID_INPUT', 'The connection ended before the chunk did.');
    throw error;
  }
  if (isFailure(stored)) {
    await endLease(context, lease);
    return stored === notUnfinished ? startOver(context, upload) : stored;
  }
  const received = await recordStored(context, lease, stored);
  if (received === cancelled) await storage.abandon(unfinishedOf(upload));
  if (isFailure(received)) return received;
  incrementalHash.chunkStored(upload, lease.index, stored);
  return { index: lease.index, received };
}

/** The bytes of exactly one chunk, while the lease is valid. */
async function* checked(context: ChunkContext, lease: ChunkLease, length: number, bytes: Readable) {
  let size = 0;
  // keep the connection open after a refusal, to send the response
  for await (const piece of bytes.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > length) throw new WrongLength(wrongLength(size, length));
    await renew(context, lease);
    yield piece;
  }
  if (size < length) throw new WrongLength(wrongLength(size, length));
}

function wrongLength(sent: number, length: number): Failure {
  return sent > length
    ? fail('TOO_LARGE', `This chunk has ${length} bytes; more were sent.`)
    : fail('RULE_VIOLATED', `This chunk has ${length} bytes, not ${sent}.`);
}

/** If the database is down, the lease expires on its own. */
async function endLease(context: ChunkContext, lease: ChunkLease): Promise<void> {
  await returnLease(context, lease).catch((error: unknown) =>
    context.log.warn({ err: error }, 'The lease of a chunk was not returned'),
  );
}

async function drain(bytes: Readable): Promise<void> {
  for await (const _ of bytes) void _;
}
