import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Config } from '../../config.ts';
import { createPrivate, missingAsUndefined } from '../../files.ts';
import { auditHeadName, type Storage } from '../../storage/storage.ts';
import type { SignedHead } from './chain.ts';

/** A head read from outside of the database; null if the content is not a head. */
export type KeptHead = { place: string; head: SignedHead | null };

/** A place outside of the database where the head of the chain is stored. */
export type HeadPlace = {
  /** The name in messages: "the data directory". */
  name: string;
  /** Undefined if the place is empty or write-only. Throws if it cannot be reached. */
  read(): Promise<KeptHead | undefined>;
  write(head: SignedHead, at: Date): Promise<void>;
};

const bytes32 = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .transform((text) => Buffer.from(text, 'hex'));

const format = z.object({
  sequence: z.int().min(0),
  seal: bytes32,
  unsignedUntil: z.int().min(0),
  retentionDays: z.int().min(0),
  mac: bytes32,
});

/** A head as one line of JSON, as it is stored and sent. */
const headJson = ({ sequence, seal, unsigned_until, retention_days, mac }: SignedHead, at: Date): string =>
  `${JSON.stringify({
    sequence,
    seal: seal.toString('hex'),
    unsignedUntil: unsigned_until,
    retentionDays: retention_days,
    mac: mac.toString('hex'),
    at: at.toISOString(),
  })}\n`;

/** Parses such a line; null if it is invalid. */
export function readHeadJson(text: string): SignedHead | null {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return null;
  }
  const parsed = format.safeParse(data);
  if (!parsed.success) return null;
  const { sequence, seal, unsignedUntil, retentionDays, mac } = parsed.data;
  return { sequence, seal, unsigned_until: unsignedUntil, retention_days: retentionDays, mac };
}

/** The data directory comes first and is written immediately; the others are written every minute. */
export function headPlaces(
  { dataDir, storage: { kind }, auditAnchor }: Config,
  storage: Storage,
): [inDataDir: HeadPlace, ...elsewhere: HeadPlace[]] {
  const file = path.join(dataDir, 'audit-head.json');
  const inDataDir = filePlace('the data directory', file, { makesFolder: true });
  const elsewhere: HeadPlace[] = [];
  if (kind === 's3') elsewhere.push(storagePlace(storage));
  if (auditAnchor?.kind === 'file') elsewhere.push(filePlace(auditAnchor.file, auditAnchor.file));
  if (auditAnchor?.kind === 'http') elsewhere.push(receiver(auditAnchor.url));
  return [inDataDir, ...elsewhere];
}

/** A file that contains only the head. A missing folder is an error: its disk may not be mounted. */
export function filePlace(name: string, file: string, { makesFolder = false } = {}): HeadPlace {
  return {
    name,
    async read() {
      const text = await readFile(file, 'utf8').catch(missingAsUndefined);
      return text === undefined ? undefined : { place: name, head: readHeadJson(text) };
    },
    async write(head, at) {
      if (makesFolder) await mkdir(path.dirname(file), { recursive: true });
      const draft = `${file}.${randomUUID()}`;
      try {
        await createPrivate(draft, headJson(head, at));
        // Atomic: readers see the previous head or the new one.
        await rename(draft, file);
      } finally {
        await rm(draft, { force: true });
      }
    },
  };
}

function storagePlace(storage: Storage): HeadPlace {
  const place = 'the storage';
  return {
    name: place,
    async read() {
      const text = await storage.readNote(auditHeadName);
      return text === undefined ? undefined : { place, head: readHeadJson(text) };
    },
    write: (head, at) => storage.writeNote(auditHeadName, headJson(head, at)),
  };
}

const receiverMs = 10_000;

/** A write-only receiver over HTTP. */
function receiver(url: string): HeadPlace {
  return {
    name: 'the receiver of AUDIT_ANCHOR_URL',
    read: () => Promise.resolve(undefined),
    async write(head, at) {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: headJson(head, at),
        redirect: 'error',
        signal: AbortSignal.timeout(receiverMs),
      }).catch((error: Error) => {
        // fetch says "fetch failed" of every failure
        const { message, code } = (error.cause ?? error) as NodeJS.ErrnoException;
        throw new Error(`The receiver cannot be reached: ${message || code}`, { cause: error });
      });
      await answer.body?.cancel();
      if (!answer.ok) throw new Error(`The receiver answered ${answer.status}`);
    },
  };
}

/**
 * Stores a head in all places, for a command whose change is committed by then. Returns sentences about the places that
 * did not take it.
 */
export async function keepHead(places: HeadPlace[], head: SignedHead, at: Date): Promise<string[]> {
  const kept = await Promise.allSettled(places.map((place) => place.write(head, at)));
  return kept.flatMap((one, index) =>
    one.status === 'fulfilled'
      ? []
      : `The head of the audit log could not be kept in ${places[index]?.name}: ${(one.reason as Error).message}`,
  );
}

/** All readable heads. Throws if a place cannot be reached. */
export async function readKept(places: HeadPlace[]): Promise<KeptHead[]> {
  const found = await Promise.all(places.map((place) => place.read()));
  return found.filter((one) => one !== undefined);
}

/** The highest number in the stored heads. */
export const highestSequence = (kept: KeptHead[]): number =>
  Math.max(0, ...kept.map(({ head }) => head?.sequence ?? 0));
