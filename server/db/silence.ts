import pg from 'pg';
import Cursor from 'pg-cursor';
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';

/** What the types of pg do not tell of a connection. A cursor that waits for its reader has the state `idle`. */
type Inside = {
  connection: { stream: Socket };
  _activeQuery: { state?: string } | null;
};
/* oxlint-disable-next-line no-underscore-dangle -- the name is pg's */
const underWay = (client: pg.Client) => (client as pg.Client & Inside)._activeQuery;
const socketOf = (client: pg.Client) => (client as pg.Client & Inside).connection.stream;

/** Ends a connection without a word to the other side, which may not be there: its query fails as unreachable. */
export function cutOff(client: pg.Client): void {
  socketOf(client).destroy(Object.assign(new Error('The database does not answer'), { code: 'ETIMEDOUT' }));
}

/** How often connections are looked at. */
const lookEveryMs = 250;
/** From then on the server is asked, at each look, whether it works on the query. */
const suspectMs = 1000;

type Owed = { query: object; bytesRead: number; looks: number; idleAtServer: number };

/** Which of these processes of the server work on a statement, asked on another connection. */
export type AskWorking = (serverPids: number[]) => Promise<Set<number>>;

/**
 * Knows all connections that are made by its `Client`, and cuts off one that owes an answer and has sent nothing, when
 * the server twice knows of no work for it, or after `answerMs`: PostgreSQL itself ends a statement before, so nobody is
 * there. `onSilence` is told.
 */
export function watchConnections(
  answerMs: number,
  askWorking: AskWorking | undefined,
  onSilence: () => void,
) {
  const clients = new Map<pg.Client, Owed | undefined>();
  const serverPids = new WeakMap<pg.Client, number>();
  let asking: Promise<void> | undefined;

  class Client extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super(config);
      clients.set(this, undefined);
      this.once('end', () => clients.delete(this));
    }
  }

  /** Looks are counted, not milliseconds: a process that was busy itself for long has not listened either. */
  function look(): void {
    const suspects: [pg.Client, Owed][] = [];
    for (const [client, owed] of clients) {
      const query = underWay(client);
      const { bytesRead } = socketOf(client);
      if (!query || query.state === 'idle') clients.set(client, undefined);
      else if (owed?.query !== query || owed.bytesRead !== bytesRead)
        clients.set(client, { query, bytesRead, looks: 0, idleAtServer: 0 });
      else if (++owed.looks * lookEveryMs >= suspectMs) suspects.push([client, owed]);
    }
    giveUp(suspects.filter(([, { looks }]) => looks * lookEveryMs >= answerMs));
    asking ??= question(suspects).finally(() => (asking = undefined));
  }

  /** Twice, since an answer may be on its way when the server is asked. */
  async function question(suspects: [pg.Client, Owed][]): Promise<void> {
    const known = suspects.filter(([client]) => serverPids.has(client));
    if (!askWorking || known.length === 0) return;
    const working = await askWorking(known.flatMap(([client]) => serverPids.get(client) ?? [])).catch(
      () => undefined,
    );
    if (!working) return;
    for (const [client, owed] of known)
      owed.idleAtServer = working.has(serverPids.get(client) ?? 0) ? 0 : owed.idleAtServer + 1;
    giveUp(known.filter(([client, owed]) => owed.idleAtServer >= 2 && clients.get(client) === owed));
  }

  function giveUp(silent: [pg.Client, Owed][]): void {
    for (const [client] of silent) cutOff(client);
    if (silent.length > 0) onSilence();
  }

  const looking = setInterval(look, lookEveryMs).unref();
  return {
    Client,
    /** Which process of the server a connection leads to, where it stays the same: not behind a pooler of transactions. */
    leadsTo: (client: pg.ClientBase, serverPid: number) =>
      void serverPids.set(client as pg.Client, serverPid),
    cutOff(which: (client: pg.Client) => boolean = () => true) {
      for (const client of clients.keys()) if (which(client)) cutOff(client);
    },
    isIdle: (client: pg.Client) => !underWay(client),
    /** Resolves when those that are there now are closed on both sides; a pool that has ended has only asked for it. */
    closed: () =>
      Promise.all(
        [...clients.keys()].map((client) => new Promise<void>((resolve) => client.once('end', resolve))),
      ),
    stop: () => clearInterval(looking),
  };
}

/** A cursor whose `close` also ends when its connection or its query is lost; the original waits for an answer then. */
export class SafeCursor<Row> extends Cursor<Row> {
  override close(): Promise<void>;
  override close(callback: (error: Error) => void): undefined;
  override close(callback?: (error: Error) => void): Promise<void> | undefined {
    if (callback) return super.close(callback);
    const { connection, state } = this as this & { connection: EventEmitter | null; state: string };
    // pg has asked for the end of a query that failed, and gives its connection to nobody before that has come
    if (!connection || state === 'error') return Promise.resolve();
    return new Promise((resolve, reject) => {
      const isLost = () => resolve();
      connection.once('end', isLost);
      super
        .close()
        .then(resolve, reject)
        .finally(() => connection.removeListener('end', isLost));
    });
  }
}
