/** No slot became free in time. */
export class NoSlot extends Error {
  constructor() {
    super('What this call needs is in use by too many others');
  }
}

type Slots = {
  /** Runs `work` when a slot is free; rejects with NoSlot on timeout, of this call alone with `atMostMs`. */
  run<T>(work: () => Promise<T>, atMostMs?: number): Promise<T>;
  isUnused(): boolean;
};

type Waiting = { start(): void; giveUp(error: unknown): void };

/**
 * Runs at most `size` pieces of work concurrently; others wait in FIFO order, at most `waitMs`. An error that
 * `concernsAll` also rejects all that wait.
 */
export function createSlots(
  size: number,
  waitMs: number,
  concernsAll: (error: unknown) => boolean = () => false,
): Slots {
  let taken = 0;
  const queue = new Set<Waiting>();

  const take = (atMostMs: number): Promise<void> | undefined => {
    if (taken < size) return void taken++;
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        start() {
          clearTimeout(timer);
          queue.delete(waiting);
          resolve();
        },
        giveUp(error) {
          clearTimeout(timer);
          queue.delete(waiting);
          reject(error);
        },
      };
      const timer = setTimeout(() => waiting.giveUp(new NoSlot()), atMostMs);
      queue.add(waiting);
    });
  };
  const give = () => {
    const [next] = queue;
    if (next) next.start();
    else taken--;
  };
  return {
    async run(work, atMostMs = waitMs) {
      await take(atMostMs);
      try {
        return await work();
      } catch (error) {
        if (concernsAll(error)) for (const waiting of queue) waiting.giveUp(error);
        throw error;
      } finally {
        give();
      }
    },
    isUnused: () => taken === 0,
  };
}

/** Separate slots for each key; unused keys take no memory. */
export function createKeyedSlots(...options: Parameters<typeof createSlots>) {
  const byKey = new Map<string, Slots>();
  return async function run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const slots = byKey.get(key) ?? createSlots(...options);
    byKey.set(key, slots);
    try {
      return await slots.run(work);
    } finally {
      if (slots.isUnused()) byKey.delete(key);
    }
  };
}
