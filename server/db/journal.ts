import { readdirSync, rmSync, statSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { hourMs } from '../../contract/durations.ts';
import { missingAsUndefined, writeWhole } from '../files.ts';

/** Rows that are written together. The id lets the database detect a batch that it already has. */
export type Batch<Row> = { id: string; rows: Row[] };

/** A batch on disk. Ids, and thus files, sort by creation time. */
type Segment = { id: string; file: string };

/** How long a call waits for a disk that hangs. */
const lookMs = 300;

class JournalFull extends Error {}

export type Journal = ReturnType<typeof openJournal>;

export const batchOf = <Row>(rows: Row[]): Batch<Row> => ({ id: uuidv7(), rows });

/** Queue and id of a batch. */
const fileName = /^([a-z-]+)-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.json$/;

/**
 * Batches that the database cannot accept at present, as files of a folder, at most `mostBytes` in total and what is
 * written to it at the same moment. Each file is immutable and belongs to no process: files left by a killed process are
 * read by the next one, and processes that share the folder may read the same file, since the database accepts a batch
 * only once.
 */
export function openJournal(folder: string, mostBytes: number) {
  const segments = new Map<string, Segment[]>();
  /** Files that this process is done with; one that cannot be removed is still there. */
  const done = new Set<string>();
  /** Damaged files of a folder that takes no other names. */
  const notRenamed = new Set<string>();
  /** Files that this process does not read again: they hold up no rows, but wait all the same. */
  const unreadable = new Set<string>();
  for (const file of filesIn(folder))
    if (fileName.test(file)) insert(file);
    else if (file.endsWith('.json.part')) removeAbandoned(path.join(folder, file));
  /** The batches of all processes that share the folder, with their bytes. */
  let found = new Map<string, number>();
  let damaged = 0;
  let looking: Promise<void> | undefined;

  /** One at a time: each look at a disk that hangs blocks one of the few threads of the process. */
  const look = () => (looking ??= list().finally(() => (looking = undefined)));

  async function list(): Promise<void> {
    const names = (await readdir(folder).catch(missingAsUndefined)) ?? [];
    const sizes = new Map<string, number>();
    for (const name of names.filter((one) => fileName.test(one) && !done.has(one)))
      sizes.set(name, found.get(name) ?? (await sizeOf(path.join(folder, name))));
    found = sizes;
    damaged = names.filter((one) => one.endsWith('.json.damaged') || notRenamed.has(one)).length;
  }

  /** As seen last, where the disk hangs or cannot be read, without what this process has removed since. */
  async function lookBriefly(): Promise<Map<string, number>> {
    await Promise.race([look().catch(() => undefined), sleep(lookMs, undefined, { ref: false })]);
    return new Map([...found].filter(([name]) => !done.has(name)));
  }

  function insert(file: string): void {
    const [, queue, id] = fileName.exec(file) ?? [];
    if (!queue || !id || done.has(file) || unreadable.has(file)) return;
    const known = segments.get(queue) ?? [];
    if (known.some((segment) => segment.id === id)) return;
    segments.set(
      queue,
      [...known, { id, file }].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    );
  }

  function forget(queue: string, segment: Segment, as = done): void {
    as.add(segment.file);
    segments.set(
      queue,
      (segments.get(queue) ?? []).filter((other) => other !== segment),
    );
  }

  return {
    /** The bytes of the batches of all processes that share the folder. */
    bytes: async (): Promise<number> => sumOf(await lookBriefly()),
    /** The damaged files that all processes have left there. */
    damaged: async (): Promise<number> => {
      await lookBriefly();
      return damaged;
    },
    /** The oldest batch of a queue that this process knows of. */
    first: (queue: string): Segment | undefined => segments.get(queue)?.[0],
    /**
     * Whether batches of a queue wait, those that cannot be read included. Lets this process know the batches of the
     * others too: their process may be gone.
     */
    async holds(queue: string): Promise<boolean> {
      const files = [...(await lookBriefly()).keys()];
      files.forEach(insert);
      return Boolean(segments.get(queue)?.length) || files.some((file) => fileName.exec(file)?.[1] === queue);
    },

    /** Writes a batch to stable storage; throws JournalFull, or the error of the file system. */
    async keep<Row>(queue: string, batch: Batch<Row>): Promise<void> {
      const text = JSON.stringify(batch.rows, withDates);
      const name = `${queue}-${batch.id}.json`;
      await look();
      const bytes = sumOf(found);
      if (bytes + Buffer.byteLength(text) > mostBytes)
        throw new JournalFull(`The journal holds ${bytes} bytes`);
      await mkdir(folder, { recursive: true, mode: 0o750 });
      const file = path.join(folder, name);
      await writeWhole(file, text, `${file}.part`);
      insert(name);
    },

    /**
     * The rows of a batch, with dates restored; undefined if another process has written and removed it. Throws
     * SyntaxError if the file is damaged.
     */
    async read<Row>(segment: Segment): Promise<Row[] | undefined> {
      const text = await readFile(path.join(folder, segment.file), 'utf8').catch(missingAsUndefined);
      if (text === undefined) return undefined;
      const rows: unknown = JSON.parse(text, toDates);
      if (!Array.isArray(rows)) throw new SyntaxError('It holds no rows');
      return rows as Row[];
    },

    async remove(queue: string, segment: Segment): Promise<void> {
      forget(queue, segment);
      await rm(path.join(folder, segment.file), { force: true });
    },

    /** Leaves a batch that cannot be read to the next start. */
    leave: (queue: string, segment: Segment) => forget(queue, segment, unreadable),

    /** Renames a damaged file and keeps it for inspection. */
    async setAside(queue: string, segment: Segment): Promise<void> {
      forget(queue, segment);
      const file = path.join(folder, segment.file);
      await rename(file, `${file}.damaged`).catch(() => notRenamed.add(segment.file));
    },
  };
}

/** The folder may be missing, for example in a container without a volume. */
function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** A process that is killed while it writes leaves the draft. That of a running one is younger. */
function removeAbandoned(draft: string): void {
  try {
    if (Date.now() - statSync(draft).mtimeMs > hourMs) rmSync(draft);
  } catch {
    // gone, or in a folder that takes no changes at the moment
  }
}

const sizeOf = async (file: string) => (await stat(file).catch(missingAsUndefined))?.size ?? 0;

const sumOf = (sizes: Map<string, number>) => [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);

function withDates(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const plain = this[key];
  return plain instanceof Date ? { $date: plain.toISOString() } : value;
}

function toDates(_: string, value: unknown): unknown {
  const { $date } = (value ?? {}) as { $date?: unknown };
  return typeof $date === 'string' ? new Date($date) : value;
}
