// Stands in for electron-updater's `autoUpdater` where there is no Electron: the same methods and events.
import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';

/** `install`: puts the version in place of the running one. */
export function createUpdater(version, install) {
  const updater = new EventEmitter();
  let feed;
  let offer;
  let isDownloaded = false;
  // without a listener, an error event ends the program
  updater.on('error', () => undefined);

  async function get(url) {
    let response = await fetch(url, { headers: updater.requestHeaders, redirect: 'manual' });
    // the machine token is not for another server
    const elsewhere = response.headers.get('location');
    if (elsewhere) response = await fetch(elsewhere);
    if (!response.ok) throw new Error(`${url}: ${response.status}`);
    return response;
  }

  return Object.assign(updater, {
    requestHeaders: {},
    currentVersion: { version, compare: (other) => compare(version, other) },
    setFeedURL({ url }) {
      feed = url;
    },
    async checkForUpdates() {
      updater.emit('checking-for-update');
      try {
        const text = await (await get(`${feed}/latest${suffixes[process.platform] ?? ''}.yml`)).text();
        const field = (name) => new RegExp(`^${name}: "?([^"\\n]+)"?$`, 'm').exec(text)?.[1];
        const found = {
          version: field('version'),
          releaseId: field('releaseId'),
          path: field('path'),
          sha512: field('sha512'),
        };
        offer = compare(found.version, version) > 0 ? found : undefined;
      } catch (error) {
        updater.emit('error', error, `Cannot check for updates: ${error.message}`);
        throw error;
      }
      updater.emit(offer ? 'update-available' : 'update-not-available', offer);
      return offer;
    },
    async downloadUpdate() {
      try {
        const bytes = Buffer.from(await (await get(new URL(offer.path, `${feed}/`))).arrayBuffer());
        updater.emit('download-progress', { transferred: bytes.length });
        if (createHash('sha512').update(bytes).digest('base64') !== offer.sha512)
          throw new Error('sha512 checksum mismatch');
        isDownloaded = true;
      } catch (error) {
        updater.emit('error', error);
        throw error;
      }
      updater.emit('update-downloaded', offer);
    },
    quitAndInstall() {
      if (isDownloaded) install(offer.version);
    },
  });
}

const suffixes = { darwin: '-mac', linux: '-linux' };

const compare = (one, other) => one.localeCompare(other, 'en', { numeric: true });
