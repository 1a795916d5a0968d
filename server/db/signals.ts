import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Db, Tx } from './client.ts';
import { channel, createListening, DatabaseDown, processName } from './listening.ts';
import type { Addresses } from './setting-of.ts';

/**
 * Topics of notifications between processes. A topic clears the caches that depend on it. Of `records`, each
 * notification names one record of the facts that depend on it (server/db/facts.ts).
 */
export type Topic = 'sessions' | 'apiKeys' | 'licenses' | 'releases' | 'policies' | 'keys' | 'records';

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

const tellWithinMs = 20;

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
  const listeners = new Map<Topic, Set<Listener>>();
  /** Callbacks that reject the pending work. */
  const underWay = new Set<(error: Error) => void>();
  /** Notifications to be sent. */
  const untold = new Set<string>();
  let telling: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;

  const listening = createListening(addresses, log, limitFactor, {
    onLoss,
    onNotification(payload) {
      const [topic, id] = payload.split(' ');
      run(topic as Topic, id);
    },
    onUp() {
      runAll();
      void sendUntold();
    },
    onDown() {
      runAll();
      for (const giveUp of underWay) giveUp(new DatabaseDown());
      underWay.clear();
    },
  });

  function run(topic: Topic, id?: string): void {
    for (const listener of listeners.get(topic) ?? []) listener(id);
  }

  const runAll = () => {
    for (const topic of listeners.keys()) run(topic);
  };

  function sendSoon(): void {
    if (untold.size > 0) telling ??= setTimeout(() => void sendUntold(), tellWithinMs).unref();
  }

  /**
   * What cannot be sent is tried again, and sent after the next connect. One NOTIFY at a time, since the heartbeat waits
   * for those before it.
   */
  function sendUntold(): Promise<void> {
    clearTimeout(telling);
    telling = undefined;
    return (sending ??= sendOnce().finally(() => {
      sending = undefined;
      if (listening.isUp()) sendSoon();
    }));
  }

  async function sendOnce(): Promise<void> {
    const payloads = [...untold];
    if (payloads.length === 0) return;
    untold.clear();
    const tell = 'select pg_notify($1, payload) from unnest($2::text[]) as p (payload)';
    await listening
      .ask(tell, [channel, payloads])
      .catch(() => payloads.forEach((payload) => untold.add(payload)));
  }

  await listening.start();
  return {
    isUp: () => listening.isUp() && listening.isHeard(),
    untilDown(work) {
      if (!listening.isUp()) return Promise.reject(new DatabaseDown());
      // not Promise.race: a promise that lives as long as the server would retain every call that raced it
      return new Promise((resolve, reject) => {
        underWay.add(reject);
        work()
          .then(resolve, reject)
          .finally(() => underWay.delete(reject));
      });
    },
    on(topic, listener) {
      const set = listeners.get(topic) ?? new Set();
      listeners.set(topic, set.add(listener));
    },
    drop: run,
    tell(topic, ids) {
      for (const id of ids) untold.add(`${topic} ${id}`);
      sendSoon();
    },
    label: (text) => listening.label(text),
    async working(serverPids) {
      if (!listening.isUp()) throw new DatabaseDown();
      const rows = await listening.ask<{ pid: number }>(
        // A server that reports no state may be executing a statement.
        `select pid from pg_stat_activity where pid = any($1) and coalesce(state, '') not like 'idle%'`,
        [serverPids],
      );
      return new Set(rows.map(({ pid }) => pid));
    },
    async stop() {
      await sending;
      await sendUntold();
      await listening.stop();
    },
  };
}

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
export const notify = (tx: Tx, topic: Topic, ids: readonly string[] = [], isNeeded = sql<boolean>`true`) =>
  sql`select pg_notify(${channel}, payload)
        from unnest(${ids.length === 0 ? [topic] : ids.map((id) => `${topic} ${id}`)}::text[]) as p (payload)
       where ${isNeeded}`.execute(tx);
