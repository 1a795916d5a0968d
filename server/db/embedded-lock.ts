import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { locks } from './locks.ts';
import { withClient } from './with-client.ts';

/** The lock of a serving process. After `forget`, losing it is expected. */
export type Lock = { forget(): void; release(): Promise<void> };

const takeWithinMs = 1500;
const retryMs = 100;

/** Takes the lock that makes this the only server on the cluster; undefined if another server holds it. */
export async function holdLock(url: string, log: (message: string) => void): Promise<Lock | undefined> {
  let forgotten = false;
  let client = await connect(url);
  if (!(await take(client))) {
    await client.end();
    return undefined;
  }
  const watch = (held: pg.Client): void => {
    held.once('end', () => void regain());
  };
  // The database may restart while we run; take the lock again as soon as it is back.
  const regain = async (): Promise<void> => {
    if (forgotten) return;
    log('The connection that holds the data directory was lost; trying to hold it again');
    while (!forgotten) {
      await sleep(500, undefined, { ref: false });
      const fresh = await connect(url).catch(() => undefined);
      if (!fresh) continue;
      const held = !forgotten && (await take(fresh).catch(() => false));
      if (held) {
        client = fresh;
        return watch(fresh);
      }
      await fresh.end().catch(() => undefined);
    }
  };
  watch(client);
  return {
    forget: () => void (forgotten = true),
    release: async () => {
      forgotten = true;
      await client.end().catch(() => undefined);
    },
  };
}

/** Whether a server holds the cluster. */
export const isServed = (url: string): Promise<boolean> =>
  withClient(url, async (client) => !(await tryOnce(client))).catch(() => false);

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'lanyard lock', keepAlive: true });
  // Without a listener, a lost connection would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

/** The backend of a killed holder ends within moments, so a short wait distinguishes a crash from a running server. */
async function take(client: pg.Client): Promise<boolean> {
  const end = performance.now() + takeWithinMs;
  while (!(await tryOnce(client))) {
    if (performance.now() > end) return false;
    await sleep(retryMs);
  }
  return true;
}

async function tryOnce(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [
    locks.embeddedServer,
  ]);
  return rows[0]?.held === true;
}
