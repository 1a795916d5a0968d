import type { Worker } from 'node:worker_threads';
import { startInspectWorker, type Done, type Findings, type Job, type Wanted } from './inspect-worker.ts';

/** Bytes queued for the worker before `addBytes` waits. */
const maxBytesWaiting = 4 * 1024 * 1024;

/** One file, passed in pieces in order. */
export type Inspection = {
  /** A range of a file on disk; `end` is not included. */
  addFile(path: string, start: number, end: number): Promise<void>;
  /** Bytes in memory, which are copied. Resolves when more can be added. */
  addBytes(bytes: Buffer): Promise<void>;
  finish(): Promise<Findings>;
  /** Discards the file; has no effect after `finish`. */
  drop(): void;
};

export type Inspector = { begin(wanted: Wanted): Inspection; stop(): Promise<void> };

type NewJob = Job extends infer J ? (J extends { seq: number } ? Omit<J, 'seq'> : never) : never;

/** Hashes files in a worker thread, started with the first file, so that the event loop is not blocked. */
export function createInspector(): Inspector {
  let worker: Worker | undefined;
  let nextId = 0;
  let nextSeq = 0;
  const waiting = new Map<number, { resolve(done: Done): void; reject(error: Error): void }>();

  function post(job: Job): void {
    worker ??= startWorker();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    worker.postMessage(job);
  }

  function startWorker(): Worker {
    const started = startInspectWorker();
    started.on('message', (done: Done) => {
      const task = waiting.get(done.seq);
      waiting.delete(done.seq);
      if (done.error === undefined) task?.resolve(done);
      else task?.reject(new Error(done.error));
    });
    started.on('error', (error) => {
      worker = undefined;
      for (const task of waiting.values()) task.reject(error);
      waiting.clear();
    });
    return started;
  }

  function request(job: NewJob): Promise<Done> {
    const seq = nextSeq++;
    return new Promise((resolve, reject) => {
      waiting.set(seq, { resolve, reject });
      post({ ...job, seq });
    });
  }

  function begin(wanted: Wanted): Inspection {
    const id = nextId++;
    let bytesWaiting = 0;
    let lastBytes: Promise<unknown> = Promise.resolve();
    post({ do: 'open', id, wanted });
    return {
      addFile: async (path, start, end) => void (await request({ do: 'file', id, path, start, end })),
      async addBytes(bytes) {
        bytesWaiting += bytes.length;
        lastBytes = request({ do: 'bytes', id, bytes }).finally(() => (bytesWaiting -= bytes.length));
        lastBytes.catch(() => undefined);
        if (bytesWaiting > maxBytesWaiting) await lastBytes;
      },
      async finish() {
        await lastBytes;
        const { findings } = await request({ do: 'close', id });
        if (!findings) throw new Error('The hash worker was restarted');
        return findings;
      },
      drop: () => worker && post({ do: 'drop', id }),
    };
  }

  return { begin, stop: async () => void (await worker?.terminate()) };
}
