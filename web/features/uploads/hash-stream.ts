import { createSHA512, type IHasher } from 'hash-wasm';

/** State of an incremental hash, so that it can be resumed, also after a reload. */
export type HashState = { offset: number; state: Uint8Array };

export type HashEvents = { onProgress: (hashed: number) => void; onCheckpoint: (state: HashState) => void };

const bytesPerReport = 4 * 1024 * 1024;

/** SHA-512 of `file` in base64, read in pieces and never whole into memory. Resumes at `from`. */
export async function hashStream(
  file: Blob,
  from: HashState | null,
  on: HashEvents,
  bytesPerCheckpoint = 64 * 1024 * 1024,
): Promise<string> {
  const hasher = await createSHA512();
  let offset = begin(hasher, from, file.size);
  let reported = offset;
  let kept = offset;
  const reader = file.slice(offset).stream().getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    hasher.update(value);
    offset += value.length;
    if (offset - reported >= bytesPerReport) on.onProgress((reported = offset));
    if (offset - kept >= bytesPerCheckpoint)
      on.onCheckpoint({ offset: (kept = offset), state: hasher.save() });
  }
  if (offset !== file.size) throw new Error('The file changed while it was read');
  on.onProgress(offset);
  return base64(hasher.digest('binary'));
}

/** Returns the position to resume at. The state of another file or of another version of the library is ignored. */
function begin(hasher: IHasher, from: HashState | null, fileSize: number): number {
  hasher.init();
  if (!from || from.offset > fileSize) return 0;
  try {
    hasher.load(from.state);
    return from.offset;
  } catch {
    hasher.init();
    return 0;
  }
}

const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));
