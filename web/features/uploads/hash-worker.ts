import { hashStream, type HashState } from './hash-stream.ts';

export type HashOrder = { file: Blob; from: HashState | null };
export type HashReport =
  | { kind: 'progress'; hashed: number }
  | { kind: 'checkpoint'; state: HashState }
  | { kind: 'done'; sha512: string }
  | { kind: 'failed'; message: string };

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- workers have no target origin
const report = (message: HashReport) => globalThis.postMessage(message);

globalThis.addEventListener('message', ({ data }: MessageEvent<HashOrder>) => void hash(data));

async function hash({ file, from }: HashOrder): Promise<void> {
  try {
    const sha512 = await hashStream(file, from, {
      onProgress: (hashed) => report({ kind: 'progress', hashed }),
      onCheckpoint: (state) => report({ kind: 'checkpoint', state }),
    });
    report({ kind: 'done', sha512 });
  } catch (error) {
    report({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
  }
}
