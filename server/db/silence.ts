import pg from 'pg';
import Cursor from 'pg-cursor';
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';

/** Fields missing in the types of pg. A cursor that waits for its reader has the state `idle`. */
type Inside = {
  connection: { stream: Socket };
  _activeQuery: { state?: string } | null;
};
/* oxlint-disable-next-line no-underscore-dangle -- the name is pg's */
const underWay = (client: pg.Client) => (client as pg.Client & Inside)._activeQuery;
const socketOf = (client: pg.Client) => (client as pg.Client & Inside).connection.stream;

/** Destroys a connection without notifying the server, which may be unreachable: its query fails as unreachable. */
export function cutOff(client: pg.Client): void {
  socketOf(client).destroy(Object.assign(new Error('The database does not answer'), { code: 'ETIMEDOUT' }));
}

const lookEveryMs = 250;
/** After this time, each check asks the server whether it is executing the query. */
const suspectMs = 1000;

type Owed = { query: object; bytesRead: number; looks: number; idleAtServer: number };

/** Asks on another connection which of these server processes are executing a statement. */
export type AskWorking = (serverPids: number[]) => Promise<Set<number>>;

/**
 * Tracks all connections created by its `Client`, and destroys one whose query has received no data when the server
 * twice reports no work for it, or after `silentMs`: the statement timeout is shorter, so the connection must be dead.
 * Then calls `onSilence`.
 */
export function watchConnections(
  silentMs: number,
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

  /** Counts checks, not milliseconds: if this process was busy, it did not read from its connections either. */
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
    giveUp(suspects.filter(([, { looks }]) => looks * lookEveryMs >= silentMs));
    asking ??= question(suspects).finally(() => (asking = undefined));
  }

  /** Asks twice, since a response may arrive while the server is asked. */
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
    /** Records the server process of a connection; not for poolers in transaction mode, where it changes. */
    leadsTo: (client: pg.ClientBase, serverPid: number) =>
      void serverPids.set(client as pg.Client, serverPid),
    cutOff(which: (client: pg.Client) => boolean = () => true) {
      for (const client of clients.keys()) if (which(client)) cutOff(client);
    },
    isIdle: (client: pg.Client) => !underWay(client),
    /** Resolves when the current connections are closed on both sides; the end of a pool only requests that. */
    closed: () =>
      Promise.all(
        [...clients.keys()].map((client) => new Promise<void>((resolve) => client.once('end', resolve))),
      ),
    stop: () => clearInterval(looking),
  };
}

/** A cursor whose `close` also resolves if its connection or query is lost; the original would wait for a response. */
export class SafeCursor<Row> extends Cursor<Row> {
  override close(): Promise<void>;
  override close(callback: (error: Error) => void): undefined;
  override close(callback?: (error: Error) => void): Promise<void> | undefined {
    if (callback) return super.close(callback);
    const { connection, state } = this as this & { connection: EventEmitter | null; state: string };
    // pg already sends a sync after a failed query, and does not reuse the connection before the response.
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
