import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { releases as releaseCalls } from '../../../contract/releases.ts';
import { appImage, withBlockmap } from '../../../tests/binaries.ts';
import { makeRelease } from '../../../tests/factories.ts';
import { halfOf, removeReleases, startFeedRoom } from '../../../tests/feed-room.ts';
import type { NewRelease } from '../releases/index.ts';

const { server, folder, feedOf, install, offered, staff, textOf, upload, updated } = await startFeedRoom();
// each test has the feeds to itself
beforeEach(() => removeReleases(server));

describe('the feed of Linux', () => {
  const linux = (fileKind: 'appimage' | 'deb' | 'rpm', version: string, fields: Partial<NewRelease> = {}) =>
    makeRelease(server, {
      platform: 'linux',
      fileKind,
      version,
      fileName: `app-${version}.${fileKind === 'appimage' ? 'AppImage' : fileKind}`,
      bytes: `\x7fELF ${fileKind} of ${version}`,
      ...fields,
    });
  const on = (kind: 'appimage' | 'deb') => ({ kind, feed: feedOf('linux') });
  const appImageOf = (file: Buffer) =>
    upload(file, { version: '1.1.0', platform: 'linux', fileName: 'App-1.1.0.AppImage' });
  const running = join(folder, 'running.AppImage');
  beforeEach(() => vi.stubEnv('APPIMAGE', running));
  afterEach(() => vi.unstubAllEnvs());

  test('gives an AppImage the newest AppImage', async () => {
    await linux('appimage', '1.1.0');
    await linux('deb', '1.2.0');
    const app = await install(on('appimage'));
    expect((await app.check())?.version).toBe('1.1.0');
    expect(app.executor.asked[0]!.path).toContain('/latest-linux.yml');
    expect(await readFile(await app.download(), 'utf8')).toBe('\x7fELF appimage of 1.1.0');
  });

  test('has an AppImage fetch only what has changed, by the block map at the end of the file', async () => {
    const old = appImage(3_000_000);
    const changed = Buffer.from(old);
    randomBytes(40_000).copy(changed, 1_000_000);
    const after = withBlockmap(changed);
    await writeFile(running, withBlockmap(old));
    await appImageOf(after);
    const app = await install({ ...on('appimage'), installed: running });
    const found = await app.check();
    expect(found?.files[0]).toMatchObject({
      size: after.length,
      blockMapSize: after.readUInt32BE(after.length - 4),
    });
    expect((await readFile(await app.download())).equals(after)).toBe(true);
    expect(app.log.join('\n')).not.toContain('Cannot download differentially');
    expect(app.executor.received).toBeLessThan(halfOf(old));
  });

  const ending =
    (...end: number[]) =>
    (file: Buffer) =>
      Buffer.concat([file, Buffer.from(end)]);
  test.each([
    ['none', ending(0, 0, 0, 0)],
    ['a length beyond its beginning', ending(0x7f, 0xff, 0xff, 0xff)],
    ['a length of what is no block map', ending(0, 0, 1, 0)],
    ['a block map with lists in lists', (file: Buffer) => withBlockmap(file, { name: [[[[[['file']]]]]] })],
    [
      'one larger than that of any file of its size',
      (file: Buffer) => withBlockmap(file, { name: 'x'.repeat(3000) }),
    ],
  ])('has an AppImage fetch one whole whose end names %s', async (_, ended) => {
    const bytes = ended(appImage(100_000));
    await writeFile(running, withBlockmap(appImage(100_000)));
    await appImageOf(bytes);
    const app = await install(on('appimage'));
    expect((await app.check())?.files[0]).not.toHaveProperty('blockMapSize');
    expect((await readFile(await app.download())).equals(bytes)).toBe(true);
  });

  test('is that of the architecture that an AppImage says it runs on', async () => {
    await linux('appimage', '1.1.0', { architecture: 'arm64' });
    expect(await offered(on('appimage'))).toBeUndefined();
    vi.stubEnv('TEST_UPDATER_ARCH', 'arm64');
    expect(await offered(on('appimage'))).toBe('1.1.0');
  });

  test('is shared with other packages by their kind', async () => {
    await linux('deb', '1.2.0');
    await linux('appimage', '1.1.0');
    const text = await textOf('linux/x64/latest-linux.yml?kind=deb');
    expect(text).toContain('version: "1.2.0"');
    expect(text).toContain('app-1.2.0.deb');
  });

  test('without a kind is that of the .deb where no AppImage has been out on the channel', async () => {
    await linux('deb', '1.1.0');
    await linux('appimage', '1.2.0', { isDraft: true });
    await linux('appimage', '1.3.0-alpha.1', { channel: 'alpha' });
    const app = await install(on('deb'));
    expect((await app.check())?.version).toBe('1.1.0');
    expect(await readFile(await app.download(), 'utf8')).toBe('\x7fELF deb of 1.1.0');
  });

  test('without a kind gives each updater its own file of one version', async () => {
    for (const kind of ['deb', 'rpm', 'appimage'] as const) await linux(kind, '1.1.0');
    expect((await updated(on('deb'))).toString()).toBe('\x7fELF deb of 1.1.0');
    expect((await updated(on('appimage'))).toString()).toBe('\x7fELF appimage of 1.1.0');
  });

  test('without a kind names no package beyond its own rollout, and none of another version', async () => {
    await linux('appimage', '1.1.0');
    await linux('deb', '1.1.0', { rolloutPercentage: 0 });
    await linux('rpm', '1.2.0');
    const text = await textOf('linux/x64/latest-linux.yml');
    expect(text).toContain('app-1.1.0.AppImage');
    expect(text).not.toMatch(/\.deb|\.rpm/);
  });

  test('without a kind tells an AppImage that was withdrawn of no package', async () => {
    const bad = await linux('appimage', '1.2.0');
    await linux('deb', '1.3.0');
    await staff.ok(releaseCalls.withdraw, { params: { releaseId: bad.id }, body: { reason: 'crashes' } });
    expect(await offered({ ...on('appimage'), version: '1.2.0' })).toBeUndefined();
  });
});
