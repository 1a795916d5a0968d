import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import http, { type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import Module, { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AppUpdater, UpdateInfo } from 'electron-updater';
import { newFolder } from './place.ts';

// electron-updater as installed in an app, run without Electron: it takes an app object and an HTTP executor.

const require = createRequire(import.meta.url);
const fromUpdater = createRequire(require.resolve('electron-updater'));

/** The native updater of macOS: downloads from the local proxy of MacUpdater, as Squirrel.Mac does. */
class NativeUpdater extends EventEmitter {
  private feed: { url: string; headers: Record<string, string> } | undefined;
  fetched: Buffer | undefined;
  setFeedURL(feed: { url: string; headers: Record<string, string> }): void {
    this.feed = feed;
  }
  checkForUpdates(): void {
    void this.fetch().then(
      () => this.emit('update-downloaded'),
      (error: unknown) => this.emit('error', error),
    );
  }
  private async fetch(): Promise<void> {
    const { url, headers } = this.feed!;
    const { url: file } = (await (await fetch(url, { headers })).json()) as { url: string };
    this.fetched = Buffer.from(await (await fetch(file)).arrayBuffer());
  }
}
export const nativeUpdater = new NativeUpdater();

/* oxlint-disable no-underscore-dangle -- the name is Node's */
type Loader = { _load(name: string, ...rest: unknown[]): unknown };
const loader = Module as unknown as Loader;
const load = loader._load.bind(loader);
loader._load = (name, ...rest) =>
  name === 'electron' ? { autoUpdater: nativeUpdater } : load(name, ...rest);
/* oxlint-enable no-underscore-dangle */

const { NsisUpdater, MacUpdater, AppImageUpdater, DebUpdater } =
  require('electron-updater') as typeof import('electron-updater');
const { HttpExecutor, configureRequestUrl, configureRequestOptions } = fromUpdater(
  'builder-util-runtime',
) as {
  HttpExecutor: new () => object;
  configureRequestUrl: (url: URL, options: RequestOptions) => void;
  configureRequestOptions: (options: RequestOptions) => void;
};

type Token = {
  createPromise(
    work: (resolve: (value: string) => void, reject: (error: Error) => void, onCancel: unknown) => void,
  ): Promise<string>;
};
type DoDownload = (options: RequestOptions, task: Record<string, unknown>, redirects: number) => void;

/** Replaces Electron's executor with Node's http, and records every request. */
class NodeHttpExecutor extends HttpExecutor {
  readonly asked: { path: string; range: string | undefined; headers: Record<string, unknown> }[] = [];
  received = 0;

  createRequest(options: RequestOptions, callback: (response: IncomingMessage) => void): ClientRequest {
    const headers = options.headers as Record<string, unknown>;
    this.asked.push({
      path: options.path!,
      range: (headers.range ?? headers.Range) as string | undefined,
      headers,
    });
    return http.request({ ...options, agent: false }, (response) => {
      // a listener added here would start the flow before the updater has attached its own
      const emit = response.emit.bind(response) as (...event: unknown[]) => boolean;
      response.emit = (...event: unknown[]) => {
        if (event[0] === 'data') this.received += (event[1] as Buffer | string).length;
        return emit(...event);
      };
      callback(response);
    });
  }

  download(
    url: URL,
    destination: string,
    options: { headers?: Record<string, string>; cancellationToken: Token },
  ) {
    return options.cancellationToken.createPromise((resolve, reject, onCancel) => {
      const request: RequestOptions = { headers: options.headers };
      configureRequestUrl(url, request);
      configureRequestOptions(request);
      const callback = (error: Error | null) => (error ? reject(error) : resolve(destination));
      const self = this as unknown as { doDownload: DoDownload };
      self.doDownload(request, { destination, options, onCancel, callback, responseHandler: null }, 0);
    });
  }
}

export type ClientOptions = {
  version: string;
  /** URL of the feed, to which the updater appends the file of its channel. */
  feed: string;
  kind?: 'nsis' | 'mac' | 'appimage' | 'deb';
  channel?: 'beta' | 'alpha';
  headers?: Record<string, string>;
  /** The id that electron-updater generates for an installation. */
  stagingId?: string;
  /** The installer of the running version, for a differential download. */
  installed?: string;
  multipleRanges?: boolean;
};

export type DesktopClient = {
  updater: AppUpdater;
  executor: NodeHttpExecutor;
  log: string[];
  /** Checks the feed as an app does at its start; returns the offered version, or undefined. */
  check(): Promise<UpdateInfo | undefined>;
  /** Downloads the result of the last check; returns the path of the file. */
  download(): Promise<string>;
};

const platforms = { nsis: 'win32', mac: 'darwin', appimage: 'linux', deb: 'linux' } as const;

/** An installed app whose updater uses a feed. */
export async function installApp(options: ClientOptions): Promise<DesktopClient> {
  const { version, feed, kind = 'nsis', channel, headers, stagingId = randomUUID() } = options;
  const home = await newFolder();
  await mkdir(join(home, 'cache/app-updater'), { recursive: true });
  await writeFile(join(home, 'app-update.yml'), 'updaterCacheDirName: app-updater\n');
  if (options.installed) {
    const names = {
      nsis: 'cache/app-updater/installer.exe',
      mac: 'cache/app-updater/update.zip',
      appimage: 'app',
      deb: 'app',
    };
    await copyFile(options.installed, join(home, names[kind]));
  }
  const app = {
    version,
    name: 'app',
    isPackaged: true,
    appUpdateConfigPath: join(home, 'app-update.yml'),
    userDataPath: home,
    baseCachePath: join(home, 'cache'),
    whenReady: () => Promise.resolve(),
    relaunch: () => undefined,
    quit: () => undefined,
    onQuit: () => undefined,
  };
  const Updater = { nsis: NsisUpdater, mac: MacUpdater, appimage: AppImageUpdater, deb: DebUpdater }[
    kind
  ] as new (options: null, app: object) => AppUpdater;
  const updater = new Updater(null, app);
  const executor = new NodeHttpExecutor();
  const log: string[] = [];
  const say = (line: unknown) => void log.push(String(line));
  Object.assign(updater, {
    httpExecutor: executor,
    logger: { info: say, warn: say, error: say },
    autoDownload: false,
    stagingUserIdPromise: { value: Promise.resolve(stagingId) },
    // the platform of the app, and an error instead of a silent full download when a differential one fails
    _testOnlyOptions: {
      platform: platforms[kind],
      isUseDifferentialDownload: options.installed !== undefined,
    },
    ...(headers ? { requestHeaders: headers } : {}),
  });
  updater.on('error', () => undefined);
  updater.setFeedURL({
    provider: 'generic',
    url: feed,
    useMultipleRangeRequest: options.multipleRanges ?? true,
  });
  if (channel) updater.channel = channel;
  return {
    updater,
    executor,
    log,
    async check() {
      const result = await updater.checkForUpdates();
      return result?.isUpdateAvailable ? result.updateInfo : undefined;
    },
    download: async () => (await updater.downloadUpdate())[0]!,
  };
}
