import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Db, Tx } from './client.ts';
import { withoutForeignLimits } from './limits.ts';
import { atAddress, type Addresses } from './setting-of.ts';
import { cutOff } from './silence.ts';
import { withClient } from './with-client.ts';

/**
 * Topics of notifications between processes. A topic clears the caches that depend on it. Of `records`, each
 * notification names one record of the facts that depend on it (server/db/facts.ts).
 */
export type Topic =
  'sessions' | 'apiKeys' | 'licenses' | 'modules' | 'releases' | 'policies' | 'keys' | 'records';

/** `id`: the changed record; undefined where anything may have changed. */
type Listener = (id?: string) => void;

/**
 * A connection that listens for changes by other processes, and whose heartbeat detects whether the database responds.
 */
export type Signals = {
  /**
   * False from the time the database stops responding until the listening connection is restored, and while it has not
   * responded for long, as right after this process was frozen: what was announced meanwhile may still be on its way.
   */
  isUp(): boolean;
  /** The result of `work`; rejects with DatabaseDown as soon as the database stops responding. */
  untilDown<T>(work: () => Promise<T>): Promise<T>;
  /** Runs when the topic changed in any process, and for every topic after notifications may have been missed. */
  on(topic: Topic, run: Listener): void;
  /** Runs the listeners of this process; NOTIFY informs the others. */
  drop(topic: Topic, id?: string): void;
  /**
   * Informs other processes of changed records of `topic` in a moment, many at once. For changes of which there are many:
   * transactions that send NOTIFY commit one after the other.
   */
  tell(topic: Topic, ids: Iterable<string>): void;
  /** Publishes a label of this process, see `labelsOfProcesses`. */
  label(text: string): Promise<void>;
  /** Which of these server processes are executing a statement. */
  working(serverPids: number[]): Promise<Set<number>>;
  stop(): Promise<void>;
};

export class DatabaseDown extends Error {
  constructor() {
    super('The database does not answer');
  }
}

const channel = 'lanyard';
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
const tellWithinMs = 20;
/** How long a NOTIFY waits for the others; less than the heartbeat may be silent. */
const notifyWithinMs = 200;
const connectWithinMs = 2000;

type State = {
  listeners: Map<Topic, Set<Listener>>;
  /** Callbacks that reject the pending work. */
  underWay: Set<(error: Error) => void>;
  up: boolean;
  /** When the last heartbeat began that was answered: all that was announced before has arrived. */
  heardAt: number;
  stopped: boolean;
  client: pg.Client | undefined;
  label: string;
  /** Notifications to be sent. */
  untold: Set<string>;
  telling: NodeJS.Timeout | undefined;
  sending: Promise<void> | undefined;
  /** The payloads that `leadsElsewhere` waits for. */
  awaited: Map<string, () => void>;
  /** Whether queries led elsewhere when the connection was lost. */
  elsewhere: boolean;
  onLoss: () => void;
  limitFactor: number;
};

/**
 * Connects and resolves once listening; later losses are repaired in the background. `onLoss` runs when the database
 * has stopped responding, since other connections may be dead too, and again before it counts as up, since connections
 * opened meanwhile may be dead. All time limits are `limitFactor` times as long.
 */
export async function startSignals(
  addresses: Addresses,
  log: Logger,
  onLoss: () => void = () => undefined,
  limitFactor = 1,
): Promise<Signals> {
  const state: State = {
    listeners: new Map(),
    underWay: new Set(),
    up: false,
    heardAt: 0,
    stopped: false,
    client: undefined,
    label: '',
    untold: new Set(),
    telling: undefined,
    sending: undefined,
    awaited: new Map(),
    elsewhere: false,
    onLoss,
    limitFactor,
  };
  await atAddress(addresses, 'direct', () => connect(state, addresses));
  const watching = watch(state, addresses, log);
  return {
    isUp: () => state.up && performance.now() - state.heardAt < heardWithinMs * limitFactor,
    untilDown: (work) => untilDown(state, work),
    on(topic, listener) {
      const set = state.listeners.get(topic) ?? new Set();
      state.listeners.set(topic, set.add(listener));
    },
    drop: (topic, id) => run(state, topic, id),
    tell(topic, ids) {
      for (const id of ids) state.untold.add(`${topic} ${id}`);
      sendSoon(state);
    },
    async label(text) {
      state.label = text;
      if (state.client)
        await ask(state.client, `select set_config('application_name', $1, false)`, [nameOf(state)]);
    },
    async working(serverPids) {
      const { client } = state;
      if (!state.up || !client) throw new DatabaseDown();
      const { rows } = await ask<{ pid: number }>(
        client,
        // A server that reports no state may be executing a statement.
        `select pid from pg_stat_activity where pid = any($1) and coalesce(state, '') not like 'idle%'`,
        [serverPids],
      );
      return new Set(rows.map(({ pid }) => pid));
    },
    async stop() {
      await state.sending;
      await sendUntold(state);
      state.stopped = true;
      await Promise.race([state.client?.end().catch(() => undefined), pause(beatDeadlineMs)]);
      if (state.client) cutOff(state.client);
      await watching;
    },
  };
}

const processName = 'lanyard signals';
const nameOf = ({ label }: State) => `${processName} ${label}`.trimEnd();

/** The labels of all processes that serve the database, in any order. */
export async function labelsOfProcesses(db: Db): Promise<string[]> {
  // Within a transaction, pg_stat_activity is cached from the first read.
  await sql`select pg_stat_clear_snapshot()`.execute(db);
  const { rows } = await sql<{ name: string }>`
    select application_name as name from pg_stat_activity
     where datname = current_database() and application_name like ${`${processName}%`}`.execute(db);
  return rows.map(({ name }) => name.slice(processName.length + 1));
}

/** Notifies every process of the changed topic, or of records of it, when `tx` commits. Changes use `announce` instead. */
export const notify = (tx: Tx, topic: Topic, ids: readonly string[] = []) =>
  sql`select pg_notify(${channel}, payload)
        from unnest(${ids.length === 0 ? [topic] : ids.map((id) => `${topic} ${id}`)}::text[]) as p (payload)`.execute(
    tx,
  );

const asked = new WeakMap<pg.Client, Promise<unknown>>();

/** Queries of one connection one after the other: pg 9 refuses a second one at the same time. */
function ask<Row extends pg.QueryResultRow>(
  client: pg.Client,
  text: string,
  values: unknown[] = [],
): Promise<pg.QueryResult<Row>> {
  const query = () => client.query<Row>(text, values);
  const answer = (asked.get(client) ?? Promise.resolve()).then(query, query);
  asked.set(client, answer);
  return answer;
}

function sendSoon(state: State): void {
  if (state.untold.size > 0) state.telling ??= setTimeout(() => void sendUntold(state), tellWithinMs).unref();
}

/**
 * What cannot be sent is tried again, and sent after the next connect. One NOTIFY at a time, since the heartbeat waits for
 * those before it.
 */
function sendUntold(state: State): Promise<void> {
  clearTimeout(state.telling);
  state.telling = undefined;
  return (state.sending ??= sendOnce(state).finally(() => {
    state.sending = undefined;
    if (state.up && !state.stopped) sendSoon(state);
  }));
}

async function sendOnce(state: State): Promise<void> {
  const { client, untold } = state;
  const payloads = [...untold];
  if (!client || payloads.length === 0) return;
  untold.clear();
  const tell = 'select pg_notify($1, payload) from unnest($2::text[]) as p (payload)';
  await ask(client, tell, [channel, payloads]).catch(() =>
    payloads.forEach((payload) => untold.add(payload)),
  );
}

/** Not Promise.race: a promise that lives as long as the server would retain every call that raced it. */
function untilDown<T>(state: State, work: () => Promise<T>): Promise<T> {
  if (!state.up) return Promise.reject(new DatabaseDown());
  return new Promise<T>((resolve, reject) => {
    state.underWay.add(reject);
    work()
      .then(resolve, reject)
      .finally(() => state.underWay.delete(reject));
  });
}

function run(state: State, topic: Topic, id?: string): void {
  for (const listener of state.listeners.get(topic) ?? []) listener(id);
}

const connectLimits = ({ limitFactor }: State) => ({
  connectionTimeoutMillis: connectWithinMs * limitFactor,
  query_timeout: connectWithinMs * limitFactor,
});

async function connect(state: State, addresses: Addresses): Promise<void> {
  const client = new pg.Client({
    connectionString: addresses.direct,
    ...connectLimits(state),
    keepAlive: true,
    application_name: nameOf(state),
  });
  const isLost = () => state.client === client && markDown(state);
  client.on('error', isLost).on('end', isLost);
  client.on('notification', ({ payload = '' }) => {
    state.awaited.get(payload)?.();
    const [topic, id] = payload.split(' ');
    run(state, topic as Topic, id);
  });
  try {
    await client.connect();
    // a NOTIFY waits for every other that commits, as for a standby that is lost, and the heartbeat for it
    await client.query(`${withoutForeignLimits}; set lock_timeout = ${notifyWithinMs}; listen ${channel}`);
    if (state.elsewhere && (await leadsElsewhere(state, addresses))) throw new DatabaseDown();
    state.elsewhere = false;
  } catch (error) {
    cutOff(client);
    throw error;
  }
  if (state.stopped) return cutOff(client);
  if (state.client) state.onLoss();
  state.client = client;
  for (const topic of state.listeners.keys()) run(state, topic);
  state.up = true;
  state.heardAt = performance.now();
  void sendUntold(state);
}

function markDown(state: State): void {
  if (!state.up) return;
  state.up = false;
  for (const topic of state.listeners.keys()) run(state, topic);
  for (const giveUp of state.underWay) giveUp(new DatabaseDown());
  state.underWay.clear();
  // A stop closes the connections itself, in order.
  if (!state.stopped) state.onLoss();
}

async function watch(state: State, addresses: Addresses, log: Logger): Promise<void> {
  let lookedAt = -Infinity;
  /** Why it could not be reached, which is logged once. */
  let said = '';
  const lose = (client: pg.Client, why: string) => {
    log.error(why);
    markDown(state);
    cutOff(client);
  };
  /** In the background, since the heartbeat must not wait for a new connection. */
  const look = async (client: pg.Client, beat: Beat): Promise<void> => {
    lookedAt = performance.now();
    const isFound = beat === 'read-only' && (await acceptsWrites(state, addresses.direct).catch(() => false));
    const isElsewhere = !isFound && (await leadsElsewhere(state, addresses));
    if (client !== state.client || !state.up || state.stopped) return;
    state.elsewhere = isElsewhere;
    if (isFound) lose(client, 'The connections only read, and new ones can write: all are opened again');
    if (isElsewhere)
      lose(
        client,
        'DATABASE_URL leads to another server than DATABASE_DIRECT_URL, as a pooler after a failover',
      );
  };
  while (!state.stopped) {
    const { client } = state;
    if (state.up && client) {
      const begun = performance.now();
      const beat = await heartbeat(client, beatDeadlineMs * state.limitFactor);
      if (beat !== 'silent') state.heardAt = begun;
      if (beat === 'silent' && !state.stopped) lose(client, 'The database does not answer');
      if (beat !== 'silent' && performance.now() - lookedAt > lookEveryMs) void look(client, beat);
      await pause(beatEveryMs);
    } else {
      try {
        await connect(state, addresses);
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

const isReadOnly = `select current_setting('transaction_read_only') = 'on' as "isReadOnly"`;
type Beat = 'writable' | 'read-only' | 'silent';

/** How the connection responds in time. A late timer alone is no proof: the event loop may have been busy. */
async function heartbeat(client: pg.Client, deadlineMs: number): Promise<Beat> {
  const answer = ask<{ isReadOnly: boolean }>(client, isReadOnly).then(
    ({ rows }): Beat => (rows[0]?.isReadOnly ? 'read-only' : 'writable'),
    (): Beat => 'silent',
  );
  const silence = pause(deadlineMs).then(
    () => new Promise<Beat>((resolve) => setImmediate(() => setImmediate(resolve, 'silent'))),
  );
  return Promise.race([answer, silence]);
}

/**
 * Whether a new connection can write. A failover may leave the old ones at the former primary; a managed service that
 * lets everyone only read, because its disk is full, is no reason to give up reading.
 */
const acceptsWrites = (state: State, connectionString: string): Promise<boolean> =>
  withClient({ connectionString, ...connectLimits(state) }, async (client) => {
    const { rows } = await client.query<{ isReadOnly: boolean }>(isReadOnly);
    return rows[0]?.isReadOnly === false;
  });

/**
 * Whether queries reach another server than the one that is listened to, so that their answers may be old: a pooler may
 * be left at the former primary. A NOTIFY sent there does not arrive here, or is refused by a replica. Other errors say
 * nothing: each call reports them.
 */
async function leadsElsewhere(state: State, { queries, direct }: Addresses): Promise<boolean> {
  if (queries === direct) return false;
  const isLost = async (): Promise<boolean> => {
    const payload = `probe ${randomUUID()}`;
    const arrived = new Promise<boolean>((resolve) => state.awaited.set(payload, () => resolve(false)));
    try {
      // ends at the server too, where it waits for another NOTIFY that does not end
      await withClient({ connectionString: queries, ...connectLimits(state) }, (client) =>
        client.query(
          `set local lock_timeout = ${arrivesWithinMs}; select pg_notify('${channel}', '${payload}')`,
        ),
      );
      return await Promise.race([arrived, pause(arrivesWithinMs * state.limitFactor).then(() => true)]);
    } catch (error) {
      return (error as { code?: string }).code === readOnlyServer;
    } finally {
      state.awaited.delete(payload);
    }
  };
  // twice: the event loop may have been busy
  return (await isLost()) && isLost();
}

const pause = (ms: number) => sleep(ms, undefined, { ref: false });
