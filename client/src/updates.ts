import { join } from 'node:path';
import { followUpdates, idOf, versionOf, type Report } from './follow-updates.ts';
import { jsonObject } from './jws.ts';
import { createOutbox } from './outbox.ts';
import type { Parts } from './parts.ts';
import type { ConnectedUpdater, Updater, UpdaterOptions } from './types.ts';

/** What the updates need of the client. */
export type UpdaterHost = Pick<Parts, 'server' | 'facts' | 'http' | 'now' | 'machineId'> & {
  store: Pick<Parts['store'], 'folder'>;
  secrets: Pick<Parts['secrets'], 'token'>;
};

/**
 * Lets electron-updater use the service's feed as this machine, and reports what becomes of each update, also when the
 * program is killed or the machine is offline meanwhile. The feed itself records the checks.
 */
export function connectUpdater(
  host: UpdaterHost,
  updater: Updater,
  options: UpdaterOptions = {},
): ConnectedUpdater {
  const { osVersion } = host.facts;
  const platform = known(platforms, host.facts.platform) ?? process.platform;
  const architecture = options.architecture ?? known(architectures, host.facts.architecture) ?? process.arch;
  const version = versionOf(updater);
  let token: string | undefined;
  let headers: Record<string, string> = {};
  async function refreshHeaders(): Promise<typeof headers> {
    token = await host.secrets.token();
    headers = {
      'X-App-Version': version,
      // not beside the token, which is of one machine: Node sends no header with an id in other scripts
      ...(token === undefined ? { 'X-Machine-Id': await host.machineId() } : { 'X-Machine-Token': token }),
    };
    return headers;
  }

  const outbox = createOutbox(join(host.store.folder, 'outbox'), async (events) => {
    const machineId = await host.machineId();
    // a folder may come from another machine, with a backup or a disk image: the events of both count
    const own = events.map((event) => ({ ...event, eventId: idOf(machineId, event.eventId), machineId }));
    return host.http('POST', '/api/v1/updates/events', {
      headers: await refreshHeaders(),
      body: { events: own },
    });
  });
  const facts = {
    appVersion: version,
    ...(known(platforms, platform) && { platform }),
    ...(known(architectures, architecture) && { architecture }),
    ...(osVersion ? { osVersion } : {}),
  };
  let last = 0;
  const report: Report = (eventId, eventType, { from, to, releaseId }, more) => {
    // in their order, also within a millisecond
    last = Math.max(host.now().getTime(), last + 1);
    const timestamp = new Date(last).toISOString();
    const about = { fromVersion: from, toVersion: to, ...(releaseId ? { releaseId } : {}) };
    outbox.add({ ...facts, eventId, eventType, timestamp, ...about, ...more });
  };

  const base = new URL(host.server.replace(/\/+$/, ''));
  const feed = new URL(`${base.href.replace(/\/$/, '')}/api/v1/updates/electron/${platform}/${architecture}`);
  if (options.kind) feed.searchParams.set('kind', options.kind);
  updater.setFeedURL({ provider: 'generic', url: feed.href });
  addHeaders(updater, () => headers);
  for (const name of ['checkForUpdates', 'downloadUpdate'] as const) {
    const call = updater[name].bind(updater) as (...args: unknown[]) => Promise<never>;
    updater[name] = async (...args: unknown[]) => {
      await refreshHeaders();
      // before: what a check returns is a download that may fail before it is handed on
      if (name === 'checkForUpdates') await lookAgain();
      return call(...args);
    };
  }
  keepTokenAtHome(updater, feed.origin);
  const lookAgain = followUpdates(updater, {
    file: join(host.store.folder, 'update.json'),
    platform,
    token: () => token,
    report,
    async isWithdrawn(url) {
      const { pathname } = new URL(url, feed);
      const path = pathname.slice(pathname.startsWith(`${base.pathname}/`) ? base.pathname.length : 0);
      // One byte, and of the service: a cache, as `net.fetch` of Electron has, may hold the whole file.
      const reply = await host.http('GET', path, {
        headers: { ...(await refreshHeaders()), range: 'bytes=0-0', 'cache-control': 'no-cache' },
      });
      if ('problem' in reply) return undefined;
      // a proxy also answers 200, and 302, and knows nothing of the file
      return reply.status === 206 ? false : jsonObject(reply.text)?.['code'] === 'NOT_FOUND' || undefined;
    },
  });
  return outbox;
}

const platforms = ['win32', 'darwin', 'linux'];
const architectures = ['x64', 'arm64', 'ia32', 'universal'];
/** Undefined for a name that the service does not know: a program may describe its machine to staff in any words. */
const known = (names: string[], name = '') => (names.includes(name) ? name : undefined);

/** Adds headers to those that the program set, as they are at each request. */
function addHeaders(updater: Updater, headers: () => Record<string, string>): void {
  let others = updater.requestHeaders;
  Object.defineProperty(updater, 'requestHeaders', {
    configurable: true,
    enumerable: true,
    get: () => ({ ...others, ...headers() }),
    set: (value: Updater['requestHeaders']) => {
      others = value;
    },
  });
}

type Requested = { protocol?: string; hostname?: string; port?: string | number; headers?: object };
type Executor = { createRequest(options: Requested, ...rest: unknown[]): unknown };

/**
 * Removes the machine token from requests to other servers: electron-updater follows a redirect to a release's external
 * URL or bucket with every header that it does not know as a secret.
 */
function keepTokenAtHome(updater: object, origin: string): void {
  const { httpExecutor: executor } = updater as { httpExecutor?: Executor };
  if (!executor) return;
  const create = executor.createRequest.bind(executor);
  executor.createRequest = (options, ...rest) => {
    const { protocol = 'https:', hostname, port } = options;
    const target = new URL(`${protocol}//${hostname}${port ? `:${port}` : ''}`);
    if (target.origin === origin) return create(options, ...rest);
    const others = Object.entries(options.headers ?? {}).filter(
      ([name]) => name.toLowerCase() !== 'x-machine-token',
    );
    return create({ ...options, headers: Object.fromEntries(others) }, ...rest);
  };
}
