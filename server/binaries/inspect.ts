import type { Worker } from 'node:worker_threads';
import { startInspectWorker, type Done, type Findings, type Job, type Wanted } from './inspect-worker.ts';

/** Bytes that may wait for the worker before the source is held back. */
const mostWaiting = 4 * 1024 * 1024;

/** One file, given in its order, in pieces. */
export type Inspection = {
  /** A range of a file on disk; `end` is not included. */
  addFile(path: string, start: number, end: number): Promise<void>;
  /** Bytes in memory; they are copied. Resolves when more may come. */
  addBytes(bytes: Buffer): Promise<void>;
  finish(): Promise<Findings>;
  /** Forgets it; harmless after `finish`. */
  drop(): void;
};

export type Inspector = { begin(wanted: Wanted): Inspection; stop(): Promise<void> };

type NewJob = Job extends infer J ? (J extends { seq: number } ? Omit<J, 'seq'> : never) : never;

/** Hashes files in a worker thread, which starts with the first one, so that no other call waits for it. */
export function createInspector(): Inspector {
  let worker: Worker | undefined;
  let nextId = 0;
  let nextSeq = 0;
  const waiting = new Map<number, { resolve(done: Done): void; reject(error: Error): void }>();

  function post(job: Job): void {
    worker ??= start();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    worker.postMessage(job);
  }

  function start(): Worker {
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

  function ask(job: NewJob): Promise<Done> {
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
      addFile: async (path, from, end) => void (await ask({ do: 'file', id, path, start: from, end })),
      async addBytes(bytes) {
        bytesWaiting += bytes.length;
        const asked = ask({ do: 'bytes', id, bytes });
        lastBytes = asked.finally(() => (bytesWaiting -= bytes.length));
        lastBytes.catch(() => undefined);
        if (bytesWaiting > mostWaiting) await lastBytes;
      },
      async finish() {
        await lastBytes;
        const { findings } = await ask({ do: 'close', id });
        if (!findings) throw new Error('The worker that hashes was restarted');
        return findings;
      },
      drop: () => worker && post({ do: 'drop', id }),
    };
  }

  return { begin, stop: async () => void (await worker?.terminate()) };
}
