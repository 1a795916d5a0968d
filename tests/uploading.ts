import { randomUUID } from 'node:crypto';
import { readdir, readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { releases } from '../contract/releases.ts';
import { uploads } from '../contract/uploads.ts';
import type { RouteRequest } from '../contract/route.ts';
import { inLanes } from './in-lanes.ts';
import { sha512Of } from './binaries.ts';
import { addressOf } from '../contract/address.ts';
import type { Answer, Api, Identity } from './api-client.ts';
import type { TestServer } from './harness.ts';
import { releaseRow } from './rows.ts';

export const MiB = 1024 * 1024;

let made = 0;
/** A version that no other release of this run has. */
export const nextVersion = () => `1.${++made}.0`;

export type Prepared = { uploadId: string; fileKey: string; chunkSize: number; totalChunks: number };
type CompleteBody = RouteRequest<typeof uploads.complete>['body'];
type PrepareBody = RouteRequest<typeof uploads.prepare>['body'];
type Fields = Record<string, string | Buffer | [Buffer, string]>;

/** A client of the upload calls whose bodies are not JSON. */
export function uploader(url: string, api: Api, who: Identity) {
  async function send<R extends typeof uploads.chunk | typeof uploads.direct>(
    route: R,
    params: Record<string, string>,
    body: BodyInit,
    headers: Record<string, string> = {},
  ) {
    const response = await fetch(url + addressOf(route, { params }), {
      method: route.method,
      headers: { ...who.headers, ...headers },
      body,
      duplex: 'half',
    } as RequestInit);
    const text = await response.text();
    const said = JSON.parse(text) as Answer<R>['body'];
    return { status: response.status, headers: response.headers, body: said, text };
  }

  const chunk = (uploadId: string, index: number, bytes: Buffer | ReadableStream, headers = {}) =>
    send(uploads.chunk, { uploadId, index: String(index) }, bytes as BodyInit, {
      'content-type': 'application/octet-stream',
      ...headers,
    });

  /** The chunks of `bytes`, for a prepared upload. */
  const pieces = (bytes: Buffer, { chunkSize, totalChunks }: Prepared) =>
    Array.from({ length: totalChunks }, (_, i) => bytes.subarray(i * chunkSize, (i + 1) * chunkSize));

  const prepare = (bytes: Buffer, fields: Partial<PrepareBody> = {}) =>
    api.ok(uploads.prepare, {
      body: { fileName: 'App Setup.exe', fileSize: bytes.length, version: nextVersion(), ...fields },
    });

  return {
    chunk,
    pieces,
    prepare,
    complete: (bytes: Buffer, prepared: Prepared, fields: Partial<CompleteBody> = {}) =>
      api.call(uploads.complete, {
        body: {
          uploadId: prepared.uploadId,
          fileKey: prepared.fileKey,
          totalChunks: prepared.totalChunks,
          sha512: sha512Of(bytes),
          version: nextVersion(),
          ...fields,
        },
      }),
    state: (uploadId: string) => api.call(uploads.state, { params: { uploadId } }),
    cancel: (uploadId: string) => api.call(uploads.cancel, { params: { uploadId } }),
    async sendAll(bytes: Buffer, prepared: Prepared, parallel = 6): Promise<void> {
      const sendPiece = async (piece: Buffer, index: number) => {
        const answer = await chunk(prepared.uploadId, index, piece);
        if (answer.status !== 200) throw new Error(`Chunk ${index}: ${answer.text}`);
      };
      await inLanes(pieces(bytes, prepared), sendPiece, parallel);
    },
    /** One multipart request; the fields are sent in the given order. */
    direct(fields: Fields, headers: Record<string, string> = {}) {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) {
        if (typeof value === 'string') form.append(name, value);
        else {
          const [bytes, fileName] = Array.isArray(value) ? value : [value, 'App Setup.exe'];
          form.append(name, new Blob([new Uint8Array(bytes)]), fileName);
        }
      }
      return send(uploads.direct, {}, form, headers);
    },
    /** Published to everyone, so that API keys may download it. */
    publish: (releaseId: string) =>
      api.ok(releases.update, { params: { releaseId }, body: { isDraft: false } }),
  };
}

export type Uploader = ReturnType<typeof uploader>;

/** What uploads leave in the storage and the database of a server. */
export function leftBy(server: TestServer) {
  const folder = join(server.context.config.dataDir, 'binaries');
  return {
    stored: async () => (await readdir(folder)).filter((name) => name !== 'incoming'),
    // but for the file by which the storage is watched
    arriving: async () => (await readdir(join(folder, 'incoming'))).filter((name) => name !== '.check'),
    bytesOf: async (key: string) =>
      Buffer.concat((await (await server.context.storage.read(key))!.toArray()) as Buffer[]),
    rowOf: (id: string) => releaseRow(server, { id }),
    /** How often a binary is open in this process; the storage's own notes, read and written at any time, have a dot. */
    openFiles: async () => {
      const all = await readdir('/proc/self/fd');
      const paths = await Promise.all(all.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
      return paths.filter((path) => path.startsWith(folder) && !basename(path).startsWith('.')).length;
    },
  };
}

export const someId = () => randomUUID();
