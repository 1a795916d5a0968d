import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  UploadPartCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { Readable } from 'node:stream';
import type { StorageConfig } from '../config.ts';
import { isFailure, type Failure } from '../failure.ts';
import { answerWithinMs, createPatience, NoAnswer, within, type Patience } from './patience.ts';
import { connect } from './s3-client.ts';
import {
  isKey,
  nameOf,
  notUnfinished,
  StorageDown,
  storageFull,
  type Part,
  type Storage,
  type StoredThing,
  type Unfinished,
} from './storage.ts';
import { present } from '../invariants.ts';

/** The part size for streams of unknown length; S3 requires at least 5 MiB. */
const putPartBytes = 8 * 1024 * 1024;
/** What is sent as a whole: also a slow line takes it before the timeout. */
const wholeBytes = 256 * 1024;
const sliceBytes = 64 * 1024;
const signedUrlSeconds = 300;
/** By the documentation of S3, a large upload may take minutes to complete. */
const completedWithinMs = 10 * 60_000;

type S3Location = { client: S3Client; bucket: string; prefix: string };

/** Binaries in a bucket. Parts are passed through as a multipart upload. */
export function openS3(config: Extract<StorageConfig, { kind: 's3' }>): Storage {
  const location: S3Location = { client: connect(config), bucket: config.bucket, prefix: config.prefix };
  const { client } = location;
  const object = (key: string) => ({ Bucket: config.bucket, Key: config.prefix + key });
  const multipart = ({ key, token }: Unfinished) => ({ ...object(key), UploadId: token });

  const exists = (unfinished: Unfinished) => new ListPartsCommand({ ...multipart(unfinished), MaxParts: 1 });

  const isKnown = async (unfinished: Unfinished): Promise<boolean> =>
    (await client.send(exists(unfinished)).catch(missingAsUndefined)) !== undefined;

  async function begin(key: string, size: number): Promise<Unfinished | Failure> {
    return troubleAsValue(async () => {
      const { UploadId } = await client.send(new CreateMultipartUploadCommand(object(key)));
      return { key, size, token: present(UploadId, 'S3 names each upload') };
    });
  }

  async function writePart(unfinished: Unfinished, part: Part, bytes: AsyncIterable<Buffer>) {
    const patience = createPatience(answerWithinMs);
    const body = Readable.from(noted(bytes, patience), { objectMode: false, highWaterMark: 256 * 1024 });
    let broken: Error | undefined;
    // The client does not notice errors of a stream that it sends.
    body.on('error', (error) => patience.giveUp((broken = error)));
    const command = new UploadPartCommand({
      ...multipart(unfinished),
      PartNumber: part.index + 1,
      Body: body,
      ContentLength: part.length,
    });
    return troubleAsValue(async () => {
      try {
        patience.wait();
        const sent = client.send(command, { abortSignal: patience.signal });
        const { ETag } = await Promise.race([sent, patience.givenUp]);
        return present(ETag, 'S3 names each part');
      } catch (error) {
        // A server that rejects a part may close the connection during the transfer.
        if (!broken && hungUp.has((error as S3Error).code ?? '')) await client.send(exists(unfinished));
        throw broken ?? error;
      } finally {
        patience.rest();
        body.destroy();
      }
    });
  }

  async function finish(unfinished: Unfinished, tags: readonly string[]): Promise<undefined | Failure> {
    const Parts = tags.map((ETag, index) => ({ ETag, PartNumber: index + 1 }));
    return troubleAsValue(async () => {
      try {
        await complete(
          new CompleteMultipartUploadCommand({ ...multipart(unfinished), MultipartUpload: { Parts } }),
        );
      } catch (error) {
        // A part was written again by a request that had been given up: which bytes it has is not known.
        if ((error as S3Error).name === 'InvalidPart') return notUnfinished;
        // it may still be completing the upload
        if (error instanceof NoAnswer || error instanceof StorageDown) throw error;
        // Ceph fails with 500 for an upload that it no longer has.
        if (!isMissing(error) && (await isKnown(unfinished))) throw error;
        // An earlier call completed the upload, but the process ended before it could respond.
        if ((await sizeOf(unfinished.key)) !== unfinished.size) return notUnfinished;
      }
      return undefined;
    });
  }

  /** Other commands are sent meanwhile, so that a server that hangs or is away is noticed at the next of them. */
  async function complete(command: CompleteMultipartUploadCommand): Promise<void> {
    const patience = createPatience(completedWithinMs);
    const ask = () =>
      client
        .send(new ListObjectsV2Command({ Bucket: config.bucket, Prefix: config.prefix, MaxKeys: 1 }))
        .catch((error: unknown) => {
          if (error instanceof NoAnswer) patience.giveUp(error);
          // a refusal, as of a right, is an answer
          else if (((error as S3Error).$metadata?.httpStatusCode ?? 500) >= 500)
            patience.giveUp(new StorageDown(nameOf(config), error));
        });
    void ask();
    const asking = setInterval(() => void ask(), answerWithinMs);
    patience.wait();
    try {
      const sent = client.send(command, { abortSignal: patience.signal });
      await Promise.race([sent, patience.givenUp]);
    } finally {
      clearInterval(asking);
      patience.rest();
    }
  }

  /** A part still in transfer may survive the first abort, so abort until the storage no longer knows the upload. */
  async function abandon(unfinished: Unfinished): Promise<void> {
    for (let attempt = 0; attempt < 5; attempt++) {
      try {
        await client.send(new AbortMultipartUploadCommand(multipart(unfinished)));
      } catch (error) {
        if (isMissing(error)) return;
        throw error;
      }
    }
  }

  async function put(key: string, bytes: AsyncIterable<Buffer>): Promise<number | Failure> {
    const parts = inParts(bytes);
    const first = (await parts.next()).value ?? Buffer.alloc(0);
    if (first.length <= wholeBytes) {
      return troubleAsValue(async () => {
        await client.send(new PutObjectCommand({ ...object(key), Body: first }));
        return first.length;
      });
    }
    const unfinished = await begin(key, 0);
    if (isFailure(unfinished)) return unfinished;
    const stored = await putParts(unfinished, first, parts).catch(async (error: unknown) => {
      // A hanging storage would only cause another timeout.
      if (!(error instanceof NoAnswer)) await abandon(unfinished).catch(() => undefined);
      throw error;
    });
    if (isFailure(stored)) await abandon(unfinished).catch(() => undefined);
    return stored;
  }

  async function putParts(unfinished: Unfinished, first: Buffer, rest: AsyncGenerator<Buffer, void>) {
    const tags: string[] = [];
    let size = 0;
    for (let next: Buffer | void = first; next; next = (await rest.next()).value) {
      const bytes = next;
      const part = { index: tags.length, offset: size, length: bytes.length };
      const send = () => writePart(unfinished, part, slices(bytes));
      // The client repeats no stream.
      const tag = await send().catch((error: unknown) => {
        if (error instanceof NoAnswer) throw error;
        return send();
      });
      if (isFailure(tag)) return tag;
      tags.push(tag);
      size += bytes.length;
    }
    return (await finish({ ...unfinished, size }, tags)) ?? size;
  }

  const head = (key: string) => client.send(new HeadObjectCommand(object(key))).catch(missingAsUndefined);
  const sizeOf = async (key: string) => (await head(key))?.ContentLength;

  return {
    begin,
    writePart,
    finish,
    abandon,
    put,
    sizeOf,
    async stampOf(key) {
      const found = await head(key);
      return found && `${found.ContentLength} ${found.ETag} ${found.LastModified?.getTime()}`;
    },
    async read(key, range) {
      const Range = range && `bytes=${range.start}-${range.end}`;
      const found = await client
        .send(new GetObjectCommand({ ...object(key), ...(Range ? { Range } : {}) }))
        .catch(missingAsUndefined);
      return found && readPatiently(found.Body as Readable, nameOf(config));
    },
    async remove(key) {
      await client.send(new DeleteObjectCommand(object(key)));
    },
    list: () => list(location),
    async readNote(name) {
      const found = await client.send(new GetObjectCommand(object(name))).catch(missingAsUndefined);
      const text = await within(answerWithinMs, async () => found?.Body?.transformToString());
      return text?.trim() || undefined;
    },
    async writeNote(name, text) {
      await client.send(new PutObjectCommand({ ...object(name), Body: `${text.trim()}\n` }));
    },
    async check() {
      await client.send(new HeadBucketCommand({ Bucket: config.bucket }));
    },
    ...(config.redirect
      ? {
          signedUrl: (key, { contentType, contentDisposition }) =>
            getSignedUrl(
              client,
              new GetObjectCommand({
                ...object(key),
                ResponseContentType: contentType,
                ResponseContentDisposition: contentDisposition,
              }),
              // our clock may be wrong by more than the URL is valid; the client corrects only its own requests
              {
                expiresIn: signedUrlSeconds,
                signingDate: new Date(Date.now() + client.config.systemClockOffset),
              },
            ),
        }
      : {}),
    close: () => client.destroy(),
  };
}

async function* list({ client, bucket, prefix }: S3Location): AsyncIterable<StoredThing> {
  const where = { Bucket: bucket, Prefix: prefix };
  for await (const page of paginateListObjectsV2({ client }, where))
    for (const { Key, LastModified } of page.Contents ?? []) {
      const key = (Key ?? '').slice(prefix.length);
      if (isKey(key))
        yield { key, modifiedAt: present(LastModified, 'S3 dates each object'), unfinished: undefined };
    }

  let marker: { KeyMarker?: string; UploadIdMarker?: string } | undefined = {};
  while (marker) {
    const page: import('@aws-sdk/client-s3').ListMultipartUploadsCommandOutput = await client.send(
      new ListMultipartUploadsCommand({ ...where, ...marker }),
    );
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      const key = (Key ?? '').slice(prefix.length);
      if (!isKey(key)) continue;
      const modifiedAt = present(Initiated, 'S3 dates each upload');
      const unfinished = { key, size: 0, token: present(UploadId, 'S3 names each upload') };
      yield { key, modifiedAt, unfinished };
    }
    marker =
      page.IsTruncated && page.NextKeyMarker
        ? {
            KeyMarker: page.NextKeyMarker,
            ...(page.NextUploadIdMarker ? { UploadIdMarker: page.NextUploadIdMarker } : {}),
          }
        : undefined;
  }
}

/** Splits a stream into parts of one size; the last may be shorter. */
async function* inParts(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let gathered: Buffer[] = [];
  let size = 0;
  for await (let piece of bytes) {
    while (size + piece.length >= putPartBytes) {
      const taken = putPartBytes - size;
      yield Buffer.concat([...gathered, piece.subarray(0, taken)]);
      piece = piece.subarray(taken);
      [gathered, size] = [[], 0];
    }
    gathered.push(piece);
    size += piece.length;
  }
  if (size > 0) yield Buffer.concat(gathered);
}

/** The server takes one after the other: on a slow line, each restarts the timer. */
async function* slices(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += sliceBytes) yield bytes.subarray(at, at + sliceBytes);
}

/** The bytes of a part; the timer runs while the server has not yet requested the next chunk. */
async function* noted(bytes: AsyncIterable<Buffer>, patience: Patience): AsyncGenerator<Buffer> {
  patience.rest();
  for await (const piece of bytes) {
    patience.wait();
    yield piece;
    patience.rest();
  }
  patience.wait();
}

/** The body of a response; if the server stalls, it fails with StorageDown. */
function readPatiently(body: Readable, name: string): Readable {
  const patience = createPatience(answerWithinMs);
  patience.signal.addEventListener('abort', () => body.destroy(patience.signal.reason as Error));
  async function* pieces(): AsyncGenerator<Buffer> {
    try {
      patience.wait();
      for await (const piece of body as AsyncIterable<Buffer>) {
        patience.rest();
        yield piece;
        patience.wait();
      }
    } catch (error) {
      throw new StorageDown(name, error);
    } finally {
      patience.rest();
    }
  }
  // A client that disconnects, even before reading, must not hold the connection.
  return Readable.from(pieces(), { highWaterMark: 1 }).once('close', () => body.destroy());
}

type S3Error = { name?: string; code?: string; $metadata?: { httpStatusCode?: number } };

const hungUp = new Set(['ECONNRESET', 'EPIPE']);
const full = new Set(['QuotaExceeded', 'InsufficientCapacity', 'XMinioStorageFull', 'InsufficientStorage']);

/** Converts the expected errors of a working storage to a Failure; all others are thrown. */
async function troubleAsValue<T>(work: () => Promise<T>): Promise<T | Failure> {
  try {
    return await work();
  } catch (error) {
    const { name = '', $metadata } = error as S3Error;
    const status = $metadata?.httpStatusCode ?? 0;
    if (status === 507 || full.has(name)) return storageFull;
    if (isMissing(error)) return notUnfinished;
    throw error;
  }
}

const isMissing = (error: unknown) =>
  ['NoSuchUpload', 'NoSuchKey', 'NotFound'].includes((error as S3Error).name ?? '');

function missingAsUndefined(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}
