import { LRUCache } from 'lru-cache';
import type { Context } from '../../context.ts';
import { acceptedKindOf, wantedOf } from '../../binaries/file-kind.ts';
import type { Findings } from '../../binaries/inspect-worker.ts';
import type { Inspection, Inspector } from '../../binaries/inspect.ts';
import { partOf, storedChunks, unfinishedOf, type UploadRow } from './upload-row.ts';
import { present } from '../../invariants.ts';

/** Uploads hashed while they arrive; beyond this, those idle longest are hashed at the end. */
const mostHashed = 64;

type HashContext = Pick<Context, 'db' | 'storage'> & { inspector: Inspector };

type Hashing = {
  upload: UploadRow;
  inspection: Inspection;
  /** Tags of the stored chunks known to this process. */
  known: Map<number, string>;
  /** Tags of the hashed chunks, from the first one on without a gap. */
  hashed: string[];
  work: Promise<void>;
  findings: Findings | undefined;
};

/**
 * Hashes chunked uploads while they arrive, as far as the chunks have no gap, so that little is left at the end. A hash
 * is valid only while every chunk still has the same tag.
 */
export function createIncrementalHash({ db, storage, inspector }: HashContext) {
  const all = new LRUCache<string, Hashing>({
    max: mostHashed,
    dispose: ({ inspection }) => inspection.drop(),
  });

  function hashingOf(upload: UploadRow): Hashing {
    const known = all.get(upload.upload_id);
    // one that was begun again has another file
    if (known?.upload.multipart_id === upload.multipart_id) return known;
    const hashing: Hashing = {
      upload,
      inspection: inspector.begin(wantedOf(acceptedKindOf(upload.file_name))),
      known: new Map(),
      hashed: [],
      work: Promise.resolve(),
      findings: undefined,
    };
    hashing.work = loadStored(hashing);
    all.set(upload.upload_id, hashing);
    return hashing;
  }

  /** Loads the chunks stored before this process tracked the upload. */
  async function loadStored({ upload, known }: Hashing): Promise<void> {
    for (const { index, etag } of await storedChunks(db, upload.upload_id))
      if (!known.has(index)) known.set(index, etag);
  }

  const drop = (uploadId: string): void => void all.delete(uploadId);

  async function advance(hashing: Hashing): Promise<void> {
    const { upload, known, hashed, inspection } = hashing;
    for (let tag = known.get(hashed.length); tag !== undefined; tag = known.get(hashed.length)) {
      const { offset, length } = partOf(upload, hashed.length);
      const file = await storage.fileOf?.(unfinishedOf(upload));
      await inspection.addFile(present(file, 'a stored chunk lies in a file'), offset, offset + length);
      hashed.push(tag);
    }
  }

  /** Called when a chunk was stored. */
  function chunkStored(upload: UploadRow, index: number, tag: string): void {
    if (!storage.fileOf) return;
    const hashing = hashingOf(upload);
    if (index < hashing.hashed.length && hashing.hashed[index] !== tag) return drop(upload.upload_id);
    hashing.known.set(index, tag);
    // errors recur, and are reported, when the upload is completed
    hashing.work = hashing.work
      .then(() => advance(hashing))
      // one that was begun again meanwhile has another hashing by now
      .catch(() => {
        if (all.peek(upload.upload_id) === hashing) drop(upload.upload_id);
      });
  }

  /**
   * The hashes of the whole file; `tags` are those of all its chunks. Only where the storage has the upload as a file.
   * May be called again after an error.
   */
  async function conclude(upload: UploadRow, tags: readonly string[]): Promise<Findings> {
    try {
      return await hashAll(upload, tags);
    } catch (error) {
      // the number of hashed bytes is unknown
      drop(upload.upload_id);
      // an unreadable file may indicate that the whole storage is down
      await storage.check();
      throw error;
    }
  }

  async function hashAll(upload: UploadRow, tags: readonly string[]): Promise<Findings> {
    const earlier = all.get(upload.upload_id);
    await earlier?.work;
    if (earlier && earlier.hashed.some((tag, index) => tag !== tags[index])) drop(upload.upload_id);
    const hashing = hashingOf(upload);
    hashing.work = hashing.work.then(() => finish(hashing, tags));
    await hashing.work;
    return present(hashing.findings, 'all of it was hashed');
  }

  /** After all earlier work: a completion whose claim ended may still hash, and a chunk that two hash is in it twice. */
  async function finish(hashing: Hashing, tags: readonly string[]): Promise<void> {
    if (hashing.findings) return;
    hashing.known = new Map(tags.entries());
    await advance(hashing);
    hashing.findings = await hashing.inspection.finish();
  }

  return { chunkStored, conclude, drop };
}

export type IncrementalHash = ReturnType<typeof createIncrementalHash>;
