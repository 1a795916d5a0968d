import type { Readable } from 'node:stream';
import { fail, type Failure } from '../failure.ts';
import type { StorageConfig } from '../config.ts';

/** An object whose bytes are still arriving. `token` is the storage's own word for it. */
export type Unfinished = { key: string; size: number; token: string };

/** A piece of an unfinished object, in bytes. */
export type Part = { index: number; offset: number; length: number };

/** First and last byte, both included. */
export type ByteRange = { start: number; end: number };

/** What lies in the storage: an object, or (`unfinished`) what arrived of one. */
export type StoredThing = { key: string; modifiedAt: Date; unfinished: Unfinished | undefined };

/**
 * Where binaries lie. Keys are made by the service, never by a client. Bytes that are handed over are the storage's: it
 * may free them. An error of the source of bytes passes
 * through; a full storage is a Failure (STORAGE_FULL); one that cannot be used throws StorageDown.
 */
export type Storage = {
  /** Begins an object that arrives in parts; STORAGE_FULL at once where `size` bytes cannot fit. */
  begin(key: string, size: number): Promise<Unfinished | Failure>;
  /**
   * Writes a part to stable storage and answers its tag. `bytes` must give exactly `part.length` bytes or throw; a
   * part may be written again. WRONG_STATE when the object is finished or given up.
   */
  writePart(
    unfinished: Unfinished,
    part: Part,
    bytes: AsyncIterable<Buffer>,
    tag: string,
  ): Promise<string | Failure>;
  /** Makes the parts, all written, one object, in one step that is there or not. May be repeated. */
  finish(unfinished: Unfinished, tags: readonly string[]): Promise<undefined | Failure>;
  /** Removes all that arrived of it. May be repeated. */
  abandon(unfinished: Unfinished): Promise<void>;
  /** The file that holds the bytes, finished or not, where there is one. */
  fileOf?(unfinished: Unfinished): Promise<string>;
  /** Stores a whole object of unknown size and answers the size; nothing is left of it when `bytes` throws. */
  put(key: string, bytes: AsyncIterable<Buffer>): Promise<number | Failure>;
  /** The bytes of an object, or of a range of it; undefined when there is no such object. */
  read(key: string, range?: ByteRange): Promise<Readable | undefined>;
  /** Size in bytes; undefined when there is no such object. */
  sizeOf(key: string): Promise<number | undefined>;
  /** Changes whenever the bytes of an object may have: its size and time. Undefined when there is no such object. */
  stampOf(key: string): Promise<string | undefined>;
  /** Removes an object; one that is not there is no error. */
  remove(key: string): Promise<void>;
  /** All that lies there under a name that can be a key, in no order. */
  list(): AsyncIterable<StoredThing>;
  /** A note that lies beside the files; undefined where there is none. */
  readNote(name: NoteName): Promise<string | undefined>;
  /** Writes a note, whole or not at all. */
  writeNote(name: NoteName, text: string): Promise<void>;
  /** Throws when the storage cannot be used. */
  check(): Promise<void>;
  /** An address that gives the object to anyone for some minutes; only where clients are to be sent there. */
  signedUrl?(key: string, headers: { contentType: string; contentDisposition: string }): Promise<string>;
  close(): void;
};

/** The notes: whose files lie there, and the head of the audit log. They are no keys, so no list has them. */
export const ownerName = '.lanyard-installation';
export const auditHeadName = '.lanyard-audit-head';
export type NoteName = typeof ownerName | typeof auditHeadName;

/** Whether a name can be a key. What bears another was not stored by the service. */
export const isKey = (name: string) => /^\w[\w.-]*$/.test(name);

/** How the log names the storage. */
export const nameOf = (config: StorageConfig): string =>
  config.kind === 'disk'
    ? config.folder
    : `s3://${config.bucket}/${config.prefix}${config.endpoint ? ` at ${config.endpoint}` : ''}`;

/** The storage cannot be used at this moment, whatever its kind and its reason. Calls are answered 503. */
export class StorageDown extends Error {
  constructor(name: string, cause: unknown) {
    const { name: kind, message } = cause as Error;
    super(`The storage ${name} cannot be used: ${kind}: ${message}`, { cause });
    this.name = 'StorageDown';
  }
}

export const storageFull = fail('STORAGE_FULL', 'The storage is full. Free some space and try again.');
export const storageUnavailable = fail(
  'UNAVAILABLE',
  'The service cannot reach its storage. Try again in a moment.',
  { retryAfter: 5 },
);
export const notUnfinished = fail('WRONG_STATE', 'This upload takes no more bytes.');
