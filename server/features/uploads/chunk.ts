import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { actorId, type Caller } from '../../caller.ts';
import type { Context } from '../../context.ts';
import { fail, isFailure, type Failure } from '../../failure.ts';
import { ArrivedTooSlowly } from '../../http/arrivals.ts';
import { StorageDown } from '../../storage/storage.ts';
import {
  claimChunk,
  ClaimLost,
  countStored,
  recordStored,
  refuseChunk,
  release,
  renew,
  takenOver,
  type ChunkClaim,
} from './chunk-claim.ts';
import type { Follower } from './follow.ts';
import { cancelled, findUpload, partOf, unfinishedOf, type UploadRow } from './upload-row.ts';

type Parts = Pick<Context, 'db' | 'storage' | 'clock' | 'log'> & { follower: Follower };
type Answer = { index: number; received: number };

/** Thrown into the stream when a chunk has not the length of its place. */
class WrongLength extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/**
 * Takes one chunk: its bytes go to their place as they arrive, and the chunk is recorded when they are on stable
 * storage. Sent again it replaces the stored one; sent by several at once, one writes and the others hear that it
 * is stored. Only whoever began the upload may send its chunks. A chunk that is too short, too long or broken off is not recorded.
 */
export async function receiveChunk(
  parts: Parts,
  { actor }: Caller,
  { uploadId, index }: { uploadId: string; index: number },
  request: IncomingMessage,
  bytes: Readable,
): Promise<Answer | Failure> {
  const upload = await findUpload(parts.db, uploadId);
  const refused = refuseChunk(upload, parts.clock());
  if (refused) return refused;
  if (upload!.begun_by !== actorId(actor))
    return fail('FORBIDDEN', 'The chunks of an upload are taken only from whoever began it.');
  if (index >= upload!.total_chunks)
    return fail('NOT_FOUND', `This upload has ${upload!.total_chunks} chunks; there is no chunk ${index}.`);
  const { length } = partOf(upload!, index);
  const announced = request.headers['content-length'];
  if (announced !== undefined && Number(announced) !== length) return wrongLength(Number(announced), length);

  const claim = await claimChunk(parts, { uploadId, index }, () => request.destroyed);
  if (isFailure(claim)) return claim;
  if (claim === 'stored') {
    await drain(bytes);
    return { index, received: await countStored(parts.db, uploadId) };
  }
  try {
    return await store(parts, upload!, claim, bytes);
  } finally {
    // what is left of a refused chunk must not hold the connection
    bytes.resume();
  }
}

async function store(
  parts: Parts,
  upload: UploadRow,
  claim: ChunkClaim,
  bytes: Readable,
): Promise<Answer | Failure> {
  const { storage, follower } = parts;
  const part = partOf(upload, claim.index);
  let stored: string | Failure;
  try {
    stored = await storage.writePart(
      unfinishedOf(upload),
      part,
      checked(parts, claim, part.length, bytes),
      claim.claim,
    );
  } catch (error) {
    await giveBack(parts, claim);
    if (error instanceof WrongLength) return error.failure;
    if (error instanceof ClaimLost) return takenOver;
    if (error instanceof ArrivedTooSlowly || error instanceof StorageDown) throw error;
    if (bytes.destroyed && !bytes.readableEnded)
      return fail('INVALID_INPUT', 'The connection ended before the chunk did.');
    throw error;
  }
  if (isFailure(stored)) {
    await giveBack(parts, claim);
    return stored;
  }
  const received = await recordStored(parts, claim, stored);
  if (received === cancelled) await storage.abandon(unfinishedOf(upload));
  if (isFailure(received)) return received;
  follower.chunkStored(upload, claim.index, stored);
  return { index: claim.index, received };
}

/** The bytes of exactly one chunk, for as long as the claim on it holds. */
async function* checked(parts: Parts, claim: ChunkClaim, length: number, bytes: Readable) {
  let size = 0;
  // the connection must outlive a refusal, for the answer goes back on it
  for await (const piece of bytes.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > length) throw new WrongLength(wrongLength(size, length));
    await renew(parts, claim);
    yield piece;
  }
  if (size < length) throw new WrongLength(wrongLength(size, length));
}

function wrongLength(sent: number, length: number): Failure {
  return sent > length
    ? fail('TOO_LARGE', `This chunk has ${length} bytes; more were sent.`)
    : fail('RULE_VIOLATED', `This chunk has ${length} bytes, not ${sent}.`);
}

/** The database may be what failed: then the lease ends the claim. */
async function giveBack(parts: Parts, claim: ChunkClaim): Promise<void> {
  await release(parts, claim).catch((error: unknown) =>
    parts.log.warn({ err: error }, 'The claim on a chunk was not given back'),
  );
}

async function drain(bytes: Readable): Promise<void> {
  for await (const _ of bytes) void _;
}
