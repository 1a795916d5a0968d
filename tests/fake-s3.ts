import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StorageConfig } from '../server/config.ts';
import { connect } from '../server/storage/s3-client.ts';

/**
 * An in-memory S3 server with the operations that the service uses, which can simulate failures. It checks no
 * signatures, but when they were made.
 */
export type FakeS3 = {
  endpoint: string;
  /**
   * `silent`: accepts every request and never responds. `stalls`: sends half of each body and then nothing. `refuses`:
   * closes the connection immediately. `fails`: returns 503. `unheard`: completes an upload, and closes the connection.
   * `breaks`: closes the connection of the next part, and is well again. `ponders`: completes an upload in five seconds.
   */
  mood: 'well' | 'silent' | 'stalls' | 'refuses' | 'fails' | 'unheard' | 'breaks' | 'ponders';
  /** Set to the mood that follows when the next completion arrives, which is never answered. */
  hangsThen?: FakeS3['mood'] | undefined;
  /** Number of open connections. */
  connections(): number;
  close(): Promise<void>;
};

type Thing = { bytes: Buffer; etag: string; at: Date };
type Multipart = { key: string; parts: Map<number, Thing>; at: Date };

const thingOf = (bytes: Buffer): Thing => ({
  bytes,
  etag: `"${createHash('md5').update(bytes).digest('hex')}"`,
  at: new Date(),
});

/** Whether a request was signed at another time than now, by a clock that tests do not set. */
function isOutdated(signedAt: string, validMs: number): boolean {
  const [, day, time] = /^(\d{8})T(\d{6})Z$/.exec(signedAt)!;
  const [date, at] = [day!.replace(/(....)(..)(..)/, '$1-$2-$3'), time!.replace(/(..)(..)(..)/, '$1:$2:$3')];
  const age = performance.timeOrigin + performance.now() - Date.parse(`${date}T${at}Z`);
  return age > validMs || age < -15 * 60_000;
}

export async function startFakeS3(): Promise<FakeS3> {
  const things = new Map<string, Thing>();
  const uploads = new Map<string, Multipart>();
  const sockets = new Set<Socket>();
  const fake: Pick<FakeS3, 'mood' | 'hangsThen'> = { mood: 'well' };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, 'http://s3');
    const key = decodeURIComponent(url.pathname.slice(1));
    const [bucket = '', ...names] = key.split('/');
    const query = url.searchParams;
    const uploadId = query.get('uploadId') ?? '';
    const method = request.method!;
    if (fake.mood === 'silent') return void request.resume();
    if (fake.mood === 'refuses') return void request.socket.destroy();
    if (fake.mood === 'fails') return error(503, 'ServiceUnavailable');
    const body = await buffer(request);
    const signedAt = request.headers['x-amz-date'] ?? query.get('X-Amz-Date');
    const validSeconds = Number(query.get('X-Amz-Expires') ?? 15 * 60);
    if (signedAt && isOutdated(String(signedAt), validSeconds * 1000))
      return error(403, 'RequestTimeTooSkewed');

    function error(status: number, code: string): undefined {
      response.writeHead(status, { 'content-type': 'application/xml' });
      response.end(method === 'HEAD' ? undefined : `<Error><Code>${code}</Code><Message>.</Message></Error>`);
    }
    function xml(name: string, content: string): undefined {
      const text = `<?xml version="1.0"?><${name}>${content}</${name}>`;
      response.writeHead(200, { 'content-type': 'application/xml', 'content-length': text.length });
      if (fake.mood !== 'stalls') response.end(text);
      else response.write(text.slice(0, text.length / 2));
    }
    const done = (status: number, headers = {}) => void response.writeHead(status, headers).end();

    if (names.join('') === '') {
      const prefix = query.get('prefix') ?? '';
      const inside = (full: string) => full.startsWith(`${bucket}/${prefix}`);
      const nameOf = (full: string) => full.slice(bucket.length + 1);
      if (query.has('list-type')) {
        const found = [...things].filter(([full]) => inside(full));
        const one = ([full, { at }]: [string, Thing]) =>
          `<Contents><Key>${nameOf(full)}</Key><LastModified>${at.toISOString()}</LastModified></Contents>`;
        return xml('ListBucketResult', `<IsTruncated>false</IsTruncated>${found.map(one).join('')}`);
      }
      if (query.has('uploads')) {
        const found = [...uploads].filter(([, { key: full }]) => inside(full));
        const one = ([id, { key: full, at }]: [string, Multipart]) =>
          `<Upload><Key>${nameOf(full)}</Key><UploadId>${id}</UploadId><Initiated>${at.toISOString()}</Initiated></Upload>`;
        return xml(
          'ListMultipartUploadsResult',
          `<IsTruncated>false</IsTruncated>${found.map(one).join('')}`,
        );
      }
      return done(200);
    }
    if (method === 'POST' && query.has('uploads')) {
      const id = randomUUID();
      uploads.set(id, { key, parts: new Map(), at: new Date() });
      return xml('InitiateMultipartUploadResult', `<UploadId>${id}</UploadId>`);
    }
    if (uploadId) {
      const upload = uploads.get(uploadId);
      if (!upload) return error(404, 'NoSuchUpload');
      if (method === 'GET') return xml('ListPartsResult', `<UploadId>${uploadId}</UploadId>`);
      if (method === 'DELETE') {
        uploads.delete(uploadId);
        return done(204);
      }
      if (method === 'PUT') {
        if (fake.mood === 'breaks') {
          fake.mood = 'well';
          return void request.socket.destroy();
        }
        const part = thingOf(body);
        upload.parts.set(Number(query.get('partNumber')), part);
        return done(200, { etag: part.etag });
      }
      if (fake.hangsThen) {
        fake.mood = fake.hangsThen;
        return;
      }
      const parts = [...upload.parts].toSorted(([one], [other]) => one - other);
      const tags = [...body.toString().matchAll(/<ETag>(.*?)<\/ETag>/g)].map(([, tag]) => tag);
      const isSame = tags.join() === parts.map(([, { etag }]) => etag.replaceAll('"', '&quot;')).join();
      if (!isSame) return error(400, 'InvalidPart');
      if (fake.mood === 'ponders') await sleep(5000);
      things.set(key, thingOf(Buffer.concat(parts.map(([, part]) => part.bytes))));
      uploads.delete(uploadId);
      if (fake.mood === 'unheard') return void request.socket.destroy();
      return xml('CompleteMultipartUploadResult', `<Key>${names.join('/')}</Key>`);
    }
    if (method === 'PUT') {
      const thing = thingOf(body);
      things.set(key, thing);
      return done(200, { etag: thing.etag });
    }
    if (method === 'DELETE') {
      things.delete(key);
      return done(204);
    }
    const thing = things.get(key);
    if (!thing) return error(404, 'NoSuchKey');
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
    const end = range?.[2] ? Number(range[2]) + 1 : undefined;
    const bytes = range ? thing.bytes.subarray(Number(range[1]), end) : thing.bytes;
    response.writeHead(range ? 206 : 200, {
      'content-length': bytes.length,
      etag: thing.etag,
      'last-modified': thing.at.toUTCString(),
      ...Object.fromEntries(
        ['content-type', 'content-disposition'].flatMap((name) => {
          const value = query.get(`response-${name}`);
          return value ? [[name, value]] : [];
        }),
      ),
    });
    if (method === 'HEAD') response.end();
    else if (fake.mood === 'stalls') response.write(bytes.subarray(0, bytes.length / 2));
    else response.end(bytes);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  return Object.assign(fake, {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => sockets.size,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  });
}

type S3Config = Extract<StorageConfig, { kind: 's3' }>;

let endpoint: Promise<string> | undefined;

/** A bucket of its own, on the S3 of the environment or a fake one for the lifetime of this process. */
export async function newBucket(redirect: boolean, prefix = ''): Promise<S3Config> {
  endpoint ??= s3Endpoint();
  const config: S3Config = {
    kind: 's3',
    bucket: `lanyard-${randomUUID()}`,
    prefix,
    endpoint: await endpoint,
    region: 'us-east-1',
    redirect,
  };
  const client = connect(config);
  await client.send(new CreateBucketCommand({ Bucket: config.bucket }));
  client.destroy();
  return config;
}

async function s3Endpoint(): Promise<string> {
  if (process.env.S3_ENDPOINT) return process.env.S3_ENDPOINT;
  process.env.AWS_ACCESS_KEY_ID = 'key';
  process.env.AWS_SECRET_ACCESS_KEY = 'secret';
  return (await startFakeS3()).endpoint;
}
