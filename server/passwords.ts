import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { usableCores } from './cores.ts';
import { fail } from './failure.ts';

/** argon2id with the parameters recommended by OWASP: 19 MiB, two passes, one lane. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Limits the memory that a burst of logins can use. */
const mostWaiting = 400;

/** Thrown, not returned, so that no result other than `true` can count as a correct password. */
export class PasswordsBusy extends Error {
  constructor() {
    super('Too many passwords wait to be checked');
  }
}

/** The response of every call that hits PasswordsBusy. */
export const passwordsBusy = fail(
  'TOO_MANY_REQUESTS',
  'Too many passwords are being checked at this moment. Try again.',
  { retryAfter: 1 },
);

/** Systems write the same letter as one character or as two. Hashes of before may be of two, so `verify` tries both. */
const composed = (password: string) => password.normalize('NFC');

type Job = { password: string; hash?: string; salt?: Buffer };
type Answer = string | boolean | Buffer;
type Task = Job & { resolve(value: Answer): void; reject(error: Error): void };
type Thread = { worker: Worker; task: Task | undefined };

/**
 * Runs argon2 on worker threads: one per core, at most four across all processes (`WORKERS`), each at low scheduling
 * priority, so that a burst of logins does not slow other calls. Threads start with the first password.
 */
export function createPasswords(processes = 1) {
  const threads: Thread[] = [];
  const waiting: Task[] = [];
  const most = Math.max(1, Math.floor(Math.min(4, usableCores()) / processes));

  function run(job: Job): Promise<Answer> {
    if (waiting.length >= mostWaiting) return Promise.reject(new PasswordsBusy());
    return new Promise((resolve, reject) => {
      waiting.push({ ...job, resolve, reject });
      next();
    });
  }

  function next(): void {
    const task = waiting[0];
    const thread =
      task &&
      (threads.find(({ task: current }) => !current) ?? (threads.length < most ? startThread() : undefined));
    if (!task || !thread) return;
    waiting.shift();
    thread.task = task;
    const { password, hash, salt } = task;
    thread.worker.postMessage({ password, hash, salt });
  }

  function startThread(): Thread {
    const thread: Thread = { worker: startWorker(), task: undefined };
    const settle = (finish: (task: Task) => void) => {
      const { task } = thread;
      thread.task = undefined;
      if (task) finish(task);
      next();
    };
    thread.worker.on('message', (value: Answer) => settle((task) => task.resolve(value)));
    thread.worker.on('error', (error) => {
      threads.splice(threads.indexOf(thread), 1);
      settle((task) => task.reject(error));
    });
    threads.push(thread);
    return thread;
  }

  return {
    /** Computes the argon2id hash of a password. Throws PasswordsBusy if too many calls wait. */
    hash: (password: string) => run({ password: composed(password) }) as Promise<string>,
    /** Verifies a password against a hash. Throws PasswordsBusy if too many calls wait. */
    async verify(hash: string, password: string): Promise<boolean> {
      const attempts = new Set([composed(password), password]);
      for (const one of attempts) if ((await run({ password: one, hash })) === true) return true;
      return false;
    },
    /** Derives 32 bytes with argon2id, for secrets looked up by hash. Throws PasswordsBusy if too many calls wait. */
    derive: async (secret: string, salt: Buffer) =>
      Buffer.from((await run({ password: secret, salt })) as Buffer),
    async stop() {
      await Promise.all(threads.map((thread) => thread.worker.terminate()));
    },
  };
}

export type Passwords = ReturnType<typeof createPasswords>;

/** The worker runs the source of this function, so it needs no separate file in the build or in development. */
function startWorker(): Worker {
  const argon2 = createRequire(import.meta.url).resolve('@node-rs/argon2');
  const worker = new Worker(`(${workerMain.toString()})(require)`, {
    eval: true,
    workerData: { argon2, cost },
    // The worker processes one password at a time; argon2's 19 MiB are allocated outside of its heap.
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
  });
  worker.unref();
  return worker;
}

/* oxlint-disable typescript/no-require-imports */
function workerMain(load: NodeJS.Require): void {
  const { parentPort, workerData } = load('node:worker_threads') as typeof import('node:worker_threads');
  const os = load('node:os') as typeof import('node:os');
  const { argon2: file, cost: options } = workerData as { argon2: string; cost: object };
  const argon2 = load(file) as typeof import('@node-rs/argon2');
  // Linux sets the priority per thread; other systems would slow the whole process.
  if (process.platform === 'linux') os.setPriority(10);
  parentPort?.on('message', ({ password, hash, salt }: Job) => {
    const answer = () => {
      if (salt) return argon2.hashRawSync(password, { ...options, salt });
      return hash ? argon2.verifySync(hash, password) : argon2.hashSync(password, options);
    };
    parentPort?.postMessage(answer());
  });
}
