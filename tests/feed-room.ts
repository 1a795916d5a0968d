import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import type { Release } from '../contract/releases.ts';
import { systemChange } from '../server/change.ts';
import { installApp, type ClientOptions } from './desktop-client.ts';
import { makeApiKey } from './factories.ts';
import { startTestServer, type TestServer } from './harness.ts';
import { newFolder } from './place.ts';
import { uploader } from './uploading.ts';

/** So that a test has the feeds to itself. */
export const removeReleases = (server: TestServer) =>
  systemChange(server.context, server.clock.now(), async ({ tx, announce }) => {
    await tx.deleteFrom('releases').execute();
    await announce('releases');
  });

/** Less than a whole download. Random content decides where blocks end, so how many bytes a change takes is luck. */
export const halfOf = (file: Buffer) => file.length / 2;

/** A service, and programs with electron-updater that ask it. */
export async function startFeedRoom() {
  const server = await startTestServer();
  const folder = await newFolder();
  const session = await server.signInAs('super_admin');
  const staff = server.api(session);
  const key = await makeApiKey(staff, { scopes: ['updates'] });

  const feedOf = (platform: string, architecture = 'x64') =>
    `${server.url}/api/v1/updates/electron/${platform}/${architecture}`;
  const install = (options: Partial<ClientOptions> = {}) =>
    installApp({ version: '1.0.0', feed: feedOf('win32'), headers: key.headers, ...options });
  const offered = async (options: Partial<ClientOptions> = {}) =>
    (await (await install(options)).check())?.version;

  /** What a feed says to a caller with a key, as text. */
  const textOf = async (path: string) =>
    (await fetch(`${server.url}/api/v1/updates/electron/${path}`, { headers: key.headers })).text();

  /** A program through the front door, published to all. */
  async function upload(
    bytes: Buffer,
    {
      version,
      fileName = `App-Setup-${version}.exe`,
      ...fields
    }: { version: string; fileName?: string } & Record<string, string>,
  ): Promise<Release> {
    const up = uploader(server.url, staff, session);
    const file: [Buffer, string] = [bytes, fileName];
    const { status, body, text } = await up.direct({ version, is_draft: 'false', ...fields, file });
    expect(status, text).toBe(201);
    return body.data;
  }

  /** Downloads what it is offered: the bytes that the updater accepted. */
  async function updated(options: Partial<ClientOptions> = {}): Promise<Buffer> {
    const app = await install(options);
    await app.check();
    return readFile(await app.download());
  }

  return { server, folder, staff, key, feedOf, install, offered, textOf, upload, updated };
}
