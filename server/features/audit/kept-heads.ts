import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Config } from '../../config.ts';
import { auditHeadName, type Storage } from '../../storage/storage.ts';
import type { SignedHead } from './chain.ts';

/** A head that was read from where it is kept; null where what lies there is no head. */
export type KeptHead = { place: string; head: SignedHead | null };

/** Where the head of the chain is kept, outside of the database. */
export type HeadPlace = {
  /** As a sentence names it: "the data directory". */
  name: string;
  /** Undefined where nothing lies there, or where nothing can be read back. Throws when it cannot be reached. */
  read(): Promise<KeptHead | undefined>;
  write(head: SignedHead, at: Date): Promise<void>;
};

const hex = (bytes: number) =>
  z
    .string()
    .regex(new RegExp(`^[0-9a-f]{${bytes * 2}}$`))
    .transform((text) => Buffer.from(text, 'hex'));

const format = z.object({
  sequence: z.int().min(0),
  seal: hex(32),
  unsignedUntil: z.int().min(0),
  retentionDays: z.int().min(0),
  mac: hex(32),
});

/** A head as one line of JSON, as it is kept and sent. */
export const headJson = (
  { sequence, seal, unsigned_until, retention_days, mac }: SignedHead,
  at: Date,
): string =>
  `${JSON.stringify({
    sequence,
    seal: seal.toString('hex'),
    unsignedUntil: unsigned_until,
    retentionDays: retention_days,
    mac: mac.toString('hex'),
    at: at.toISOString(),
  })}\n`;

/** What such a line says; null when it is none. */
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

/** The data directory first, which is written at once; the others follow every minute. */
export function headPlaces(
  { dataDir, storage: { kind }, auditAnchor }: Config,
  storage: Storage,
): HeadPlace[] {
  const places = [filePlace('the data directory', path.join(dataDir, 'audit-head.json'))];
  if (kind === 's3') places.push(storagePlace(storage));
  if (auditAnchor?.kind === 'file') places.push(filePlace(auditAnchor.file, auditAnchor.file));
  if (auditAnchor?.kind === 'http') places.push(receiver(auditAnchor.url));
  return places;
}

/** A file that holds the head and nothing else. */
export function filePlace(name: string, file: string): HeadPlace {
  return {
    name,
    async read() {
      const text = await readFile(file, 'utf8').catch(missingAsUndefined);
      return text === undefined ? undefined : { place: name, head: readHeadJson(text) };
    },
    async write(head, at) {
      await mkdir(path.dirname(file), { recursive: true });
      const draft = `${file}.${randomUUID()}`;
      try {
        const handle = await open(draft, 'wx', 0o600);
        try {
          await handle.writeFile(headJson(head, at));
          await handle.sync();
        } finally {
          await handle.close();
        }
        // whoever reads it meanwhile finds the one before, never half of one
        await rename(draft, file);
      } finally {
        await rm(draft, { force: true });
      }
    },
  };
}

function missingAsUndefined(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
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

/** It keeps what it is sent; nothing is read back from it. */
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
      });
      await answer.body?.cancel();
      if (!answer.ok) throw new Error(`The receiver answered ${answer.status}`);
    },
  };
}

/** Every head that can be read back. Throws when a place cannot be reached. */
export async function readKept(places: HeadPlace[]): Promise<KeptHead[]> {
  const found = await Promise.all(places.map((place) => place.read()));
  return found.filter((one) => one !== undefined);
}

/** The highest number that the kept heads know. */
export const furthest = (kept: KeptHead[]): number =>
  Math.max(0, ...kept.map(({ head }) => head?.sequence ?? 0));
