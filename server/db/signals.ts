import pg from 'pg';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { isDeadlock, isLockTimeout, type Db, type Tx } from './client.ts';
import { cutOff } from './silence.ts';
import { createSlots } from './slots.ts';

/** What other processes must hear of. A topic drops the caches that hang on it; it carries no data. */
export type Topic = 'sessions' | 'apiKeys' | 'licenses' | 'modules' | 'releases' | 'keys';

/**
 * One connection that listens for changes made by other processes and, by its heartbeat, knows whether the
 * database answers at all.
 */
export type Signals = {
  /** False from the moment the database stops answering until it is listened to again. */
  isUp(): boolean;
  /** What `work` gives, or DatabaseDown the moment the database stops answering, whatever `work` then does. */
  untilDown<T>(work: () => Promise<T>): Promise<T>;
  /** Runs when the topic changed anywhere, and for every topic when something may have been missed. */
  on(topic: Topic, run: () => void): void;
  /** Runs the listeners of this process; the others hear by NOTIFY, see `announce`. */
  drop(topic: Topic): void;
  /** Shows a word about this process to others, see `labelsOfProcesses`. */
  label(text: string): Promise<void>;
  /** Which of these processes of the server work on a statement now. */
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
/** A live database answers `select 1` in under a millisecond; the sum stays below the promised second. */
const beatDeadlineMs = 500;
const reconnectEveryMs = 200;
const connectWithinMs = 2000;

type State = {
  listeners: Map<Topic, Set<() => void>>;
  /** How to give up each piece of work that is under way. */
  underWay: Set<(error: Error) => void>;
  up: boolean;
  stopped: boolean;
  client: pg.Client | undefined;
  label: string;
  onLoss: () => void;
};

/**
 * Connects and resolves once listening; later losses are repaired in the background. `onLoss` runs when the database
 * has stopped answering, since other connections may be as silent as this one, and before it counts as there again, since
 * those that were opened meanwhile may lead nowhere.
 */
export async function startSignals(
  databaseUrl: string,
  log: Logger,
  onLoss: () => void = () => undefined,
): Promise<Signals> {
  const state: State = {
    listeners: new Map(),
    underWay: new Set(),
    up: false,
    stopped: false,
    client: undefined,
    label: '',
    onLoss,
  };
  await connect(state, databaseUrl);
  const watching = watch(state, databaseUrl, log);
  return {
    isUp: () => state.up,
    untilDown: (work) => untilDown(state, work),
    on(topic, listener) {
      const set = state.listeners.get(topic) ?? new Set();
      state.listeners.set(topic, set.add(listener));
    },
    drop: (topic) => run(state, topic),
    async label(text) {
      state.label = text;
      await state.client?.query(`select set_config('application_name', $1, false)`, [nameOf(state)]);
    },
    async working(serverPids) {
      if (!state.up) throw new DatabaseDown();
      const { rows } = await state.client!.query<{ pid: number }>(
        // a server that tells no state may well be at work
        `select pid from pg_stat_activity where pid = any($1) and coalesce(state, '') not like 'idle%'`,
        [serverPids],
      );
      return new Set(rows.map(({ pid }) => pid));
    },
    async stop() {
      state.stopped = true;
      await Promise.race([state.client?.end().catch(() => undefined), pause(beatDeadlineMs)]);
      if (state.client) cutOff(state.client);
      await watching;
    },
  };
}

const processName = 'lanyard signals';
const nameOf = ({ label }: State) => `${processName} ${label}`.trimEnd();

/** What each process that serves the database shows of itself, in any order. */
export async function labelsOfProcesses(db: Tx | Db): Promise<string[]> {
  // pg_stat_activity stays as it was first read in a transaction
  await sql`select pg_stat_clear_snapshot()`.execute(db);
  const { rows } = await sql<{ name: string }>`
    select application_name as name from pg_stat_activity
     where datname = current_database() and application_name like ${`${processName}%`}`.execute(db);
  return rows.map(({ name }) => name.slice(processName.length + 1));
}

/** Tells every process, on commit of `tx`, that the topic changed; this process hears at the same moment. */
export async function announce(tx: Tx | Db, topic: Topic): Promise<void> {
  announced.set(tx, (announced.get(tx) ?? new Set<Topic>()).add(topic));
  await sql`select pg_notify(${channel}, ${topic})`.execute(tx);
}

const announced = new WeakMap<object, Set<Topic>>();

/**
 * Has `transact` run `work` once `tx` has committed, before its caller goes on: for what can not be taken back, such
 * as removing a file. The change stands by then, so errors are the business of `work` itself.
 */
export function afterCommit(tx: Tx, work: () => Promise<void>): void {
  followUps.set(tx, [...(followUps.get(tx) ?? []), work]);
}

const followUps = new WeakMap<object, (() => Promise<void>)[]>();

/**
 * Runs `work` in a transaction, again when it lost a deadlock or met a lock; so it may do nothing but queries. What it
 * announced is dropped from this process's caches before the caller goes on: NOTIFY alone could arrive after the
 * answer, and the next call would still see the old state.
 */
export async function transact<T>(
  db: Db,
  signals: Pick<Signals, 'drop'> | undefined,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  let mustWait = false;
  for (let attempt = 1; ; attempt++) {
    try {
      return await (mustWait
        ? waitingForLocks.run(() => once(db, signals, lockWaitMs, work))
        : once(db, signals, firstTryMs, work));
    } catch (error) {
      if (isLockTimeout(error) && !mustWait) mustWait = true;
      else if (!isDeadlock(error) || attempt === 3) throw error;
    }
  }
}

/** Long enough for whoever holds a lock in passing. */
const firstTryMs = 300;
const lockWaitMs = 3000;
/**
 * A transaction that met a lock lets go of its connection and waits for the lock on one of a few: however many want a
 * record that somebody holds, the others have connections.
 */
const waitingForLocks = createSlots(3, lockWaitMs);

async function once<T>(
  db: Db,
  signals: Pick<Signals, 'drop'> | undefined,
  lockMs: number,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  let topics: Set<Topic> | undefined;
  let followUp: (() => Promise<void>)[] | undefined;
  const result = await db.transaction().execute(async (tx) => {
    await sql`select set_config('lock_timeout', ${String(lockMs)}, true)`.execute(tx);
    const value = await work(tx);
    topics = announced.get(tx);
    followUp = followUps.get(tx);
    return value;
  });
  for (const topic of topics ?? []) signals?.drop(topic);
  for (const follow of followUp ?? []) await follow();
  return result;
}

/** Not Promise.race: a promise that lives as long as the server would keep every call that ever raced it. */
function untilDown<T>(state: State, work: () => Promise<T>): Promise<T> {
  if (!state.up) return Promise.reject(new DatabaseDown());
  return new Promise<T>((resolve, reject) => {
    state.underWay.add(reject);
    work()
      .then(resolve, reject)
      .finally(() => state.underWay.delete(reject));
  });
}

function run(state: State, topic: Topic): void {
  for (const listener of state.listeners.get(topic) ?? []) listener();
}

async function connect(state: State, databaseUrl: string): Promise<void> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: connectWithinMs,
    query_timeout: connectWithinMs,
    keepAlive: true,
    application_name: nameOf(state),
  });
  const isLost = () => state.client === client && markDown(state);
  client.on('error', isLost).on('end', isLost);
  client.on('notification', ({ payload }) => run(state, payload as Topic));
  try {
    await client.connect();
    await client.query(`listen ${channel}`);
  } catch (error) {
    cutOff(client);
    throw error;
  }
  if (state.client) state.onLoss();
  state.client = client;
  for (const topic of state.listeners.keys()) run(state, topic);
  state.up = true;
}

function markDown(state: State): void {
  if (!state.up) return;
  state.up = false;
  for (const topic of state.listeners.keys()) run(state, topic);
  for (const giveUp of state.underWay) giveUp(new DatabaseDown());
  state.underWay.clear();
  // a stop ends the connections itself, in their turn
  if (!state.stopped) state.onLoss();
}

async function watch(state: State, databaseUrl: string, log: Logger): Promise<void> {
  while (!state.stopped) {
    if (state.up) {
      if (!(await beats(state.client!)) && !state.stopped) {
        log.error('The database does not answer');
        markDown(state);
        cutOff(state.client!);
      }
      await pause(beatEveryMs);
    } else {
      await connect(state, databaseUrl).then(
        () => log.info('The database answers again'),
        () => pause(reconnectEveryMs),
      );
    }
  }
}

/** True when the connection answers in time. A late timer alone proves nothing: the event loop may have been busy. */
async function beats(client: pg.Client): Promise<boolean> {
  const answer = client.query('select 1').then(
    () => true,
    () => false,
  );
  const silence = pause(beatDeadlineMs).then(
    () => new Promise<false>((resolve) => setImmediate(() => setImmediate(resolve, false))),
  );
  return Promise.race([answer, silence]);
}

const pause = (ms: number) =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, ms).unref();
  });
