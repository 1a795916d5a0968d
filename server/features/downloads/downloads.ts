import { create as attachment } from 'content-disposition';
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../caller.ts';
import type { Context } from '../../context.ts';
import { fail, type Failure } from '../../failure.ts';
import { Body } from '../../http/body.ts';
import type { ByteRange, Storage } from '../../storage/storage.ts';
import type { ReleaseSet } from '../releases/index.ts';
import type { DownloadStep, UpdateRecorder } from '../update-events/index.ts';
import { resolveDownload, type FilePath, type ResolvedFile } from './resolve-download.ts';
import { frameRanges, readRanges } from './ranges.ts';
import type { FileCheck } from './stored-file.ts';

type DownloadContext = Pick<Context, 'storage'> & {
  releases: ReleaseSet;
  recorder: UpdateRecorder;
  checkFile: FileCheck;
};
type Exchange = {
  request: FastifyRequest;
  reply: FastifyReply;
  /** Of the machine that the client names. */
  machineHash: string | undefined;
};

const notFound = fail('NOT_FOUND', 'There is no such file.');
const contentType = 'application/octet-stream';

/**
 * Responds with a release's file or block map: whole, in ranges, or (by setting, unless pieces are asked for) as a redirect
 * to the bucket. The URL
 * contains the version and its bytes never change, so caches may keep them indefinitely, except the first byte alone.
 */
export async function sendFile(
  context: DownloadContext,
  by: Caller,
  path: FilePath,
  exchange: Exchange,
): Promise<FastifyReply | Failure> {
  const { storage, releases } = context;
  const { request, reply } = exchange;
  const file = resolveDownload(await releases(), by.actor, path);
  if (!file) return notFound;
  const count = counter(context, by, file, exchange);
  if ('externalUrl' in file) {
    count('delivery_begun');
    return reply.header('cache-control', 'no-store').redirect(file.externalUrl, 302);
  }
  const unavailable = await context.checkFile(file.stored);
  if (unavailable) return unavailable;
  const size = file.size ?? (await storage.sizeOf(file.key));
  if (size === undefined) return notFound;

  const etag = `"${file.etag}"`;
  const lastModified = new Date(file.modifiedAt).toUTCString();
  reply.headers({
    etag,
    'last-modified': lastModified,
    'accept-ranges': 'bytes',
    'cache-control': file.isPublished ? 'private, max-age=31536000, immutable' : 'private, no-cache',
  });
  if (isAnother(request.headers, etag, file.modifiedAt))
    return empty(reply.code(412).header('cache-control', 'no-store'), 0);
  if (isUnchanged(request.headers, etag, file.modifiedAt)) return reply.code(304).send();
  reply.headers({ 'content-type': contentType, 'content-disposition': attachment(file.name) });

  const ranges = rangesOf(request.headers, { size, etag, lastModified });
  if (ranges === 'unsatisfiable') {
    reply.headers({ 'content-range': `bytes */${size}`, 'cache-control': 'no-store' });
    return empty(reply.code(416).removeHeader('content-disposition'), 0);
  }
  // a program asks for the first byte whether the file may still be installed
  if (ranges !== 'whole' && ranges.length === 1 && ranges[0]?.end === 0)
    reply.header('cache-control', 'no-store');
  // The URL is signed for GET. A differential update follows a redirect with the token or key of its first request.
  const isWholeOrRest = reachesEnd(request.headers.range, ranges);
  if (storage.signedUrl && request.method === 'GET' && isWholeOrRest) {
    const url = await storage.signedUrl(file.key, {
      contentType,
      contentDisposition: attachment(file.name),
    });
    count('delivery_begun');
    return reply.header('cache-control', 'no-store').redirect(url, 302);
  }
  return sendBytes(storage, file, { size, ranges }, exchange, () => {
    count('delivery_begun');
    if (isWholeOrRest) reply.raw.once('finish', () => count('delivered', size));
  });
}

/** Counts downloads by machines (decision 18). */
function counter(
  { recorder }: DownloadContext,
  by: Caller,
  file: ResolvedFile,
  { request, machineHash }: Exchange,
) {
  const counts = request.method === 'GET' && !file.isBlockmap;
  const { id: releaseId, version: toVersion } = file.release;
  return (type: DownloadStep, bytesDownloaded: number | null = null) => {
    if (counts && machineHash !== undefined)
      recorder.observe(by, { type, machineHash, releaseId, toVersion, bytesDownloaded });
  };
}

/** A client that requests everything from an offset already has the rest; one that specifies an end requests pieces. */
const reachesEnd = (header: string | undefined, ranges: ByteRange[] | 'whole'): boolean =>
  ranges === 'whole' || (ranges.length === 1 && /^bytes\s*=\s*\d+-$/i.test(header?.trim() ?? ''));

/** `onSend` is called when bytes will be sent: the storage has them. */
async function sendBytes(
  storage: Storage,
  file: Extract<ResolvedFile, { key: string }>,
  { size, ranges }: { size: number; ranges: ByteRange[] | 'whole' },
  { request, reply }: Exchange,
  onSend: () => void,
): Promise<FastifyReply | Failure> {
  const isHead = request.method === 'HEAD';
  if (ranges !== 'whole' && ranges.length > 1) {
    const boundary = randomBytes(18).toString('hex');
    const frame = frameRanges(ranges, size, boundary);
    reply.code(206).header('content-type', `multipart/byteranges; boundary=${boundary}`);
    if (isHead) return empty(reply, frame.length);
    reply.header('content-length', frame.length);
    return reply.send(new Body(rangeParts(storage, file.key, ranges, frame, onSend)));
  }
  const [range] = ranges === 'whole' ? [] : ranges;
  if (range) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${size}`);
  const length = range ? range.end - range.start + 1 : size;
  if (isHead) return empty(reply, length);
  const bytes = await storage.read(file.key, range);
  if (!bytes) throw new Error(`${file.key} is not in the storage`);
  onSend();
  return reply.header('content-length', length).send(new Body(exactly(length, bytes)));
}

async function* rangeParts(
  storage: Storage,
  key: string,
  ranges: readonly ByteRange[],
  { heads, tail }: ReturnType<typeof frameRanges>,
  onSend: () => void,
): AsyncGenerator<Buffer> {
  for (const [index, range] of ranges.entries()) {
    yield Buffer.from(heads[index] ?? '');
    const bytes = await storage.read(key, range);
    if (!bytes) throw new Error(`${key} is not in the storage`);
    if (index === 0) onSend();
    yield* exactly(range.end - range.start + 1, bytes);
  }
  yield Buffer.from(tail);
}

/**
 * A file that is replaced while it is sent may end early, and a client would wait for the rest, or take other bytes for
 * it. An error breaks off the response, and the client resumes.
 */
async function* exactly(length: number, bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest = length;
  for await (const piece of bytes) {
    rest -= piece.length;
    if (rest < 0) break;
    yield piece;
  }
  if (rest !== 0) throw new Error(`The stored file has ${rest < 0 ? 'more' : 'fewer'} bytes than announced`);
}

/** A content length without a body: an empty stream, since the framework would compute the length otherwise. */
const empty = (reply: FastifyReply, length: number) =>
  reply.header('content-length', length).send(Readable.from([]));

/** `If-Match` takes precedence over `If-Unmodified-Since`. */
function isAnother(headers: IncomingHttpHeaders, etag: string, modifiedAt: string): boolean {
  const wanted = headers['if-match'];
  if (wanted !== undefined) return !wanted.split(',').some((one) => ['*', etag].includes(one.trim()));
  return inSeconds(modifiedAt) > Date.parse(headers['if-unmodified-since'] ?? '');
}

/** `If-None-Match` takes precedence over `If-Modified-Since`. */
function isUnchanged(headers: IncomingHttpHeaders, etag: string, modifiedAt: string): boolean {
  const known = headers['if-none-match'];
  if (known !== undefined)
    return known.split(',').some((one) => ['*', etag].includes(one.trim().replace(/^W\//, '')));
  return inSeconds(modifiedAt) <= Date.parse(headers['if-modified-since'] ?? '');
}

/** As in `Last-Modified`, which has no fractions of a second. */
const inSeconds = (at: string): number => Math.floor(Date.parse(at) / 1000) * 1000;

/** If `If-Range` does not match the current file, the whole file is sent. */
function rangesOf(
  headers: IncomingHttpHeaders,
  { size, etag, lastModified }: { size: number; etag: string; lastModified: string },
) {
  const condition = headers['if-range'];
  if (condition !== undefined && condition !== etag && condition !== lastModified) return 'whole';
  return readRanges(headers.range, size);
}
