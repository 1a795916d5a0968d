import { createHash, randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import { extname } from 'node:path';
import { plainText } from './plain-text.ts';
import { readUpdateState, settle, writeUpdateState, type PendingUpdate } from './update-state.ts';
import type { Updater } from './types.ts';

type Facts = Record<string, string | number>;
/** The update that an event is about. */
type About = { from: string; to: string; releaseId: string | undefined };
type Download = About & { bytes: number };
export type Report = (eventId: string, eventType: string, about: About, more?: Facts) => void;

type Info = { version: string; releaseId?: unknown };
type Downloaded = { downloadedFile?: string; files?: readonly { url: string }[] };
type Following = {
  file: string;
  platform: string;
  token: () => string | undefined;
  report: Report;
  /** Whether the service no longer gives this file to machines; undefined without an answer. */
  isWithdrawn: (url: string) => Promise<boolean | undefined>;
};

/**
 * Reports each step; the outcome of an installation shows only at the next start, by the version that then runs. Returns
 * what is to run with each check: it looks whether what was downloaded may still be installed.
 */
export function followUpdates(
  updater: Updater,
  { file, platform, token, report, isWithdrawn }: Following,
): () => Promise<void> {
  const from = versionOf(updater);
  const settled = settle(readUpdateState(file), from, (other) => updater.currentVersion.compare(other) < 0);
  let { state } = settled;
  if (settled.outcome) {
    const { id, eventType, ...about } = settled.outcome;
    const error = eventType === 'install_error' ? notInstalled(about) : {};
    report(idOf(id, eventType), eventType, about, error);
  }
  writeUpdateState(file, state);

  /** The update that a feed offered, and the download of it. */
  let offered: About | undefined;
  let download: Download | undefined;
  /** The file that electron-updater would install now. */
  let ready: { url: string; isWithdrawn: boolean; isGone: boolean } | undefined;

  function keep(pending: PendingUpdate): void {
    state = { ...state, pending };
    writeUpdateState(file, state);
  }
  function beginDownload(about: About): Download {
    if (download) return download;
    download = { ...about, bytes: 0 };
    report(randomUUID(), 'download_start', download);
    return download;
  }
  /**
   * False: not now. electron-updater installs what it has, also when staff or the guard have taken it back since, and what
   * it no longer has: where the file has gone, it removes an AppImage all the same.
   */
  function beginInstall(): boolean {
    const { pending } = state;
    if (ready?.isWithdrawn || ready?.isGone) return false;
    if (!pending || pending.installing) return true;
    report(idOf(pending.id, 'install_start'), 'install_start', pending);
    keep({ ...pending, installing: true });
    return true;
  }
  function fail(error: unknown): void {
    const { pending } = state;
    const concerned = download ?? offered;
    const isDownloaded = !download && pending !== null && pending.to === offered?.to;
    // Squirrel.Mac checks the signature of a downloaded update, and says so before the installation
    if (pending?.installing || (platform === 'darwin' && isDownloaded)) {
      report(idOf(pending.id, 'install_error'), 'install_error', pending, factsOf(error, token()));
      keep({ ...pending, id: randomUUID(), installing: false });
    } else if (concerned && !isDownloaded) {
      report(randomUUID(), 'download_error', beginDownload(concerned), factsOf(error, token()));
      download = undefined;
    }
  }

  updater.on('update-available', ({ version, releaseId }: Info) => {
    offered = { from, to: version, releaseId: isUuid(releaseId) ? releaseId : undefined };
  });
  updater.on('update-not-available', () => {
    offered = undefined;
  });
  updater.on('download-progress', ({ transferred }: { transferred: number }) => {
    const concerned = download ?? offered;
    if (concerned) beginDownload(concerned).bytes = transferred;
  });
  updater.on('update-downloaded', ({ downloadedFile = '', files = [] }: Downloaded = {}) => {
    const one = files.find(({ url }) => url.endsWith(extname(downloadedFile))) ?? files[0];
    ready = one && { url: one.url, isWithdrawn: false, isGone: false };
    const concerned = download ?? offered;
    // the file of an earlier check
    if (!concerned || (!download && state.pending?.to === concerned.to)) return;
    const { bytes, ...about } = beginDownload(concerned);
    const id = idOf(state.since, `download_complete ${about.to} ${about.releaseId}`);
    report(id, 'download_complete', about, bytes > 0 ? { bytesDownloaded: bytes } : {});
    download = undefined;
    keep({ ...about, id: randomUUID(), installing: false });
  });
  updater.on('update-cancelled', () => {
    download = undefined;
  });
  let last: unknown;
  updater.on('error', (error: unknown, message?: unknown) => {
    // a check that failed says nothing about an update; MacUpdater tells of one error twice
    if (!String(message).startsWith('Cannot check for updates') && error !== last) fail(error);
    last = error;
  });
  before(updater, 'downloadUpdate', () => {
    // it removes the file, first or when it fails, unless it finds that the file is the one to download
    if (ready) ready.isGone = true;
    return true;
  });
  before(updater, 'quitAndInstall', () => {
    if (beginInstall()) return true;
    // as electron-updater says that there is nothing to install; it is no failure of the update
    last = new Error('The update is not installed: it was taken back, or is being downloaded again.');
    updater.emit('error', last, String(last));
    return false;
  });
  // what electron-updater calls when the program quits with an update downloaded
  before(updater, 'install', beginInstall);
  return async () => {
    const asked = ready;
    if (asked) asked.isWithdrawn = (await isWithdrawn(asked.url)) ?? asked.isWithdrawn;
  };
}

/** With build metadata, by which the service tells one build of a version from another. */
export const versionOf = ({ currentVersion: { version, build = [] } }: Updater): string =>
  [version, build.join('.')].filter(Boolean).join('+');

/** Has `first` run before each call of a method, where there is one; false: the method does nothing, and returns that. */
function before(updater: object, name: string, first: () => boolean): void {
  const methods = updater as Record<string, ((...args: unknown[]) => unknown) | undefined>;
  const method = methods[name]?.bind(updater);
  if (!method) return;
  methods[name] = (...args) => first() && method(...args);
}

/** A UUID (version 8) that is the same for the same two texts, such as a try and its event. */
export function idOf(id: string, event: string): string {
  const hex = createHash('sha256').update(`${id} ${event}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const isUuid = (value: unknown): value is string =>
  typeof value === 'string' && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value);

/** Without what is nobody's business: the machine token, and the name of the person in the path of a folder. */
function factsOf(error: unknown, token: string | undefined): Facts {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const [line = ''] = String(message ?? error).split('\n');
  const text = line.replaceAll(homedir(), '~').replaceAll(token ?? homedir(), '…');
  return {
    errorCode: typeof code === 'string' ? plainText(code, 100) : 'UNKNOWN',
    errorMessage: plainText(text, 1000),
  };
}

const notInstalled = ({ from, to }: About): Facts => ({
  errorCode: 'NOT_INSTALLED',
  errorMessage: `After the installation of ${to}, ${from} still runs.`,
});
