import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { codeOf } from './client.ts';
import { withoutForeignLimits } from './limits.ts';
import { atAddress, type Addresses } from './setting-of.ts';
import { cutOff } from './silence.ts';
import { withClient } from './with-client.ts';

export class DatabaseDown extends Error {
  constructor() {
    super('The database does not answer');
  }
}

/** The channel of all notifications between processes. */
export const channel = 'lanyard';
/** What the listening connections call themselves, before the label of their process. */
export const processName = 'lanyard signals';

const beatEveryMs = 100;
/** A live database responds to `select 1` in under a millisecond; the sum stays below the promised second. */
const beatDeadlineMs = 500;
/** More than two heartbeats take. */
const heardWithinMs = 2 * beatDeadlineMs + beatEveryMs + 400;
const reconnectEveryMs = 200;
/** How often new connections are tried that may lead to another server: longer than one may take to open. */
const lookEveryMs = 3000;
/** A notification takes milliseconds. */
const arrivesWithinMs = 1000;
/** Of NOTIFY on a replica. */
const readOnlyServer = '25006';
/** How long a NOTIFY waits for the others; less than the heartbeat may be silent. */
const notifyWithinMs = 200;
const connectWithinMs = 2000;

/** What is done when the connection changes. */
type Hooks = {
  onNotification: (payload: string) => void;
  /** Before a connection that was restored counts as up, and after it was lost, unless by a stop. */
  onLoss: () => void;
  onUp: () => void;
  onDown: () => void;
};

/**
 * The connection that listens for notifications, and whose heartbeat detects whether the database responds. All time
 * limits are `limitFactor` times as long.
 */
export function createListening(
  addresses: Addresses,
  log: Logger,
  limitFactor: number,
  { onNotification, onLoss, onUp, onDown }: Hooks,
) {
  const { queries, direct } = addresses;
  const connectLimits = {
    connectionTimeoutMillis: connectWithinMs * limitFactor,
    query_timeout: connectWithinMs * limitFactor,
  };
  let client: pg.Client | undefined;
  /** The last query of `client`. */
  let asked: Promise<unknown> = Promise.resolve();
  let label = '';
  let isUp = false;
  /** When the last heartbeat began that was answered: all that was announced before has arrived. */
  let heardAt = 0;
  let isStopped = false;
  let watching: Promise<void> | undefined;
  /** The payloads that `leadsElsewhere` waits for. */
  const awaited = new Map<string, () => void>();
  /** Whether queries led elsewhere when the connection was lost. */
  let wasElsewhere = false;

  const nameOfProcess = () => `${processName} ${label}`.trimEnd();

  /** Queries one after the other: pg 9 refuses a second one at the same time. */
  function ask<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    const asking = client;
    if (!asking) return Promise.reject(new DatabaseDown());
    const query = async () => (await asking.query<Row>(text, values)).rows;
    const answer = asked.then(query, query);
    asked = answer;
    return answer;
  }

  async function connect(): Promise<void> {
    const next = new pg.Client({
      connectionString: direct,
      ...connectLimits,
      keepAlive: true,
      application_name: nameOfProcess(),
    });
    const isLost = () => client === next && markDown();
    next.on('error', isLost).on('end', isLost);
    next.on('notification', ({ payload = '' }) => {
      awaited.get(payload)?.();
      onNotification(payload);
    });
    try {
      await next.connect();
      // a NOTIFY waits for every other that commits, as for a standby that is lost, and the heartbeat for it
      await next.query(`${withoutForeignLimits}; set lock_timeout = ${notifyWithinMs}; listen ${channel}`);
      if (wasElsewhere && (await leadsElsewhere())) throw new DatabaseDown();
      wasElsewhere = false;
    } catch (error) {
      cutOff(next);
      throw error;
    }
    if (isStopped) return cutOff(next);
    if (client) onLoss();
    client = next;
    asked = Promise.resolve();
    isUp = true;
    heardAt = performance.now();
    onUp();
  }

  function markDown(): void {
    if (!isUp) return;
    isUp = false;
    onDown();
    // A stop closes the connections itself, in order.
    if (!isStopped) onLoss();
  }

  async function watch(): Promise<void> {
    let lookedAt = -Infinity;
    /** Why it could not be reached, which is logged once. */
    let said = '';
    while (!isStopped) {
      if (isUp && client) {
        const begun = performance.now();
        const beat = await heartbeat(ask(isReadOnly), beatDeadlineMs * limitFactor);
        if (beat !== 'silent') heardAt = begun;
        if (beat === 'silent' && !isStopped) lose(client, 'The database does not answer');
        if (beat !== 'silent' && performance.now() - lookedAt > lookEveryMs) {
          lookedAt = performance.now();
          void look(client, beat);
        }
        await pause(beatEveryMs);
      } else {
        try {
          await connect();
          log.info('The database answers again');
          said = '';
        } catch (error) {
          const { message } = error as Error;
          if (message !== said) log.error({ err: error }, 'The database cannot be reached');
          said = message;
          await pause(reconnectEveryMs);
        }
      }
    }
  }

  function lose(lost: pg.Client, why: string): void {
    log.error(why);
    markDown();
    cutOff(lost);
  }

  /** In the background, since the heartbeat must not wait for a new connection. */
  async function look(looking: pg.Client, beat: Beat): Promise<void> {
    const isFound = beat === 'read-only' && (await acceptsWrites().catch(() => false));
    const isElsewhere = !isFound && (await leadsElsewhere());
    if (looking !== client || !isUp || isStopped) return;
    wasElsewhere = isElsewhere;
    if (isFound) lose(looking, 'The connections only read, and new ones can write: all are opened again');
    if (isElsewhere)
      lose(
        looking,
        'DATABASE_URL leads to another server than DATABASE_DIRECT_URL, as a pooler after a failover',
      );
  }

  /**
   * Whether a new connection can write. A failover may leave the old ones at the former primary; a managed service that
   * lets everyone only read, because its disk is full, is no reason to give up reading.
   */
  const acceptsWrites = (): Promise<boolean> =>
    withClient({ connectionString: direct, ...connectLimits }, async (probe) => {
      const { rows } = await probe.query<{ isReadOnly: boolean }>(isReadOnly);
      return rows[0]?.isReadOnly === false;
    });

  /**
   * Whether queries reach another server than the one that is listened to, so that their answers may be old: a pooler may
   * be left at the former primary. A NOTIFY sent there does not arrive here, or is refused by a replica. Other errors say
   * nothing: each call reports them.
   */
  async function leadsElsewhere(): Promise<boolean> {
    if (queries === direct) return false;
    const isLost = async (): Promise<boolean> => {
      const payload = `probe ${randomUUID()}`;
      const arrived = new Promise<boolean>((resolve) => awaited.set(payload, () => resolve(false)));
      try {
        // ends at the server too, where it waits for another NOTIFY that does not end
        await withClient({ connectionString: queries, ...connectLimits }, (probe) =>
          probe.query(
            `set local lock_timeout = ${arrivesWithinMs}; select pg_notify('${channel}', '${payload}')`,
          ),
        );
        return await Promise.race([arrived, pause(arrivesWithinMs * limitFactor).then(() => true)]);
      } catch (error) {
        return codeOf(error) === readOnlyServer;
      } finally {
        awaited.delete(payload);
      }
    };
    // twice: the event loop may have been busy
    return (await isLost()) && isLost();
  }

  return {
    /** Resolves once it listens; later losses are repaired in the background. */
    async start(): Promise<void> {
      await atAddress(addresses, 'direct', connect);
      watching = watch();
    },
    isUp: () => isUp,
    /** Whether a heartbeat was answered lately, so that what was announced since then is not still on its way. */
    isHeard: () => performance.now() - heardAt < heardWithinMs * limitFactor,
    ask,
    /** Publishes a label of this process in the name of its connection. */
    async label(text: string): Promise<void> {
      label = text;
      if (client) await ask(`select set_config('application_name', $1, false)`, [nameOfProcess()]);
    },
    async stop(): Promise<void> {
      isStopped = true;
      await Promise.race([client?.end().catch(() => undefined), pause(beatDeadlineMs)]);
      if (client) cutOff(client);
      await watching;
    },
  };
}

const isReadOnly = `select current_setting('transaction_read_only') = 'on' as "isReadOnly"`;
type Beat = 'writable' | 'read-only' | 'silent';

/** How the connection responds in time. A late timer alone is no proof: the event loop may have been busy. */
async function heartbeat(asked: Promise<{ isReadOnly: boolean }[]>, deadlineMs: number): Promise<Beat> {
  const answer = asked.then(
    ([row]): Beat => (row?.isReadOnly ? 'read-only' : 'writable'),
    (): Beat => 'silent',
  );
  const silence = pause(deadlineMs).then(
    () => new Promise<Beat>((resolve) => setImmediate(() => setImmediate(resolve, 'silent'))),
  );
  return Promise.race([answer, silence]);
}

const pause = (ms: number) => sleep(ms, undefined, { ref: false });
