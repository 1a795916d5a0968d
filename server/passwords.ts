import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { usableCores } from './cores.ts';
import { fail } from './failure.ts';

/** argon2id at the cost that OWASP names: 19 MiB, two passes, one lane. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Hashes waiting beyond this are refused: a storm must not fill the memory. */
const mostWaiting = 400;

/** Thrown, not answered: nothing but `true` may ever pass for a password that is right. */
export class PasswordsBusy extends Error {
  constructor() {
    super('Too many passwords wait to be checked');
  }
}

/** What every call that met PasswordsBusy answers. */
export const passwordsBusy = fail(
  'TOO_MANY_REQUESTS',
  'Too many passwords are being checked at this moment. Try again.',
  { retryAfter: 1 },
);

type Job = { password: string; hash?: string; salt?: Buffer };
type Answer = string | boolean | Buffer;
type Task = Job & { resolve(value: Answer): void; reject(error: Error): void };
type Lane = { worker: Worker; task: Task | undefined };

/**
 * argon2 off the main thread, one thread a core and at most four over all processes of one `WORKERS`, each at a low
 * scheduling priority: a storm of logins takes what other calls leave over and does not slow them. Threads start with
 * the first password.
 */
export function createPasswords(processes = 1) {
  const lanes: Lane[] = [];
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
    const lane = task && (lanes.find((l) => !l.task) ?? (lanes.length < most ? addLane() : undefined));
    if (!task || !lane) return;
    waiting.shift();
    lane.task = task;
    const { password, hash, salt } = task;
    lane.worker.postMessage({ password, hash, salt });
  }

  function addLane(): Lane {
    const lane: Lane = { worker: startWorker(), task: undefined };
    const settle = (finish: (task: Task) => void) => {
      const { task } = lane;
      lane.task = undefined;
      if (task) finish(task);
      next();
    };
    lane.worker.on('message', (value: Answer) => settle((task) => task.resolve(value)));
    lane.worker.on('error', (error) => {
      lanes.splice(lanes.indexOf(lane), 1);
      settle((task) => task.reject(error));
    });
    lanes.push(lane);
    return lane;
  }

  return {
    /** The argon2id hash of a password. Throws PasswordsBusy when too many wait. */
    hash: (password: string) => run({ password }) as Promise<string>,
    /** Whether the password is the one of the hash. Throws PasswordsBusy when too many wait. */
    verify: (hash: string, password: string) => run({ password, hash }) as Promise<boolean>,
    /** 32 bytes of argon2id for a secret that is looked up by its hash. Throws PasswordsBusy when too many wait. */
    derive: async (secret: string, salt: Buffer) =>
      Buffer.from((await run({ password: secret, salt })) as Buffer),
    async stop() {
      await Promise.all(lanes.map((lane) => lane.worker.terminate()));
    },
  };
}

export type Passwords = ReturnType<typeof createPasswords>;

/** The worker is this function's own text: it needs no file beside it, neither built nor from source. */
function startWorker(): Worker {
  const argon2 = createRequire(import.meta.url).resolve('@node-rs/argon2');
  const worker = new Worker(`(${workerMain.toString()})(require)`, {
    eval: true,
    workerData: { argon2, cost },
    // the worker holds one password at a time; argon2's own 19 MiB lie outside its heap
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
  // On Linux a priority belongs to a thread; elsewhere it would slow the whole process.
  if (process.platform === 'linux') os.setPriority(10);
  parentPort?.on('message', ({ password, hash, salt }: Job) => {
    const answer = () => {
      if (salt) return argon2.hashRawSync(password, { ...options, salt });
      return hash ? argon2.verifySync(hash, password) : argon2.hashSync(password, options);
    };
    parentPort?.postMessage(answer());
  });
}
