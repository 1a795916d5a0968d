import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { test } from '@playwright/test';
import { releases, type Release } from '../../contract/releases.ts';
import type { RouteRequest } from '../../contract/route.ts';
import { updateEvents } from '../../contract/update-events.ts';
import { program } from '../binaries.ts';
import { makeApiKey, type MadeApiKey } from '../factories.ts';
import { eventually } from '../time.ts';
import { uploader } from '../uploading.ts';
import type { ConsoleServer } from './support.ts';

/** A file on disk for a file input. */
export async function fileOnDisk(name: string, bytes: Buffer): Promise<string> {
  const path = test.info().outputPath(name);
  await writeFile(path, bytes);
  return path;
}

const keys = new WeakMap<ConsoleServer, Promise<MadeApiKey>>();

/** One key of a server, for builds that upload and machines that report. */
function keyOf(server: ConsoleServer): Promise<MadeApiKey> {
  const key = keys.get(server) ?? makeApiKey(server.admin, { scopes: ['updates', 'releases'] });
  keys.set(server, key);
  return key;
}

type Patch = RouteRequest<typeof releases.update>['body'];
type Build = Partial<Pick<Release, 'version' | 'channel' | 'platform' | 'architecture'>> & {
  fileName?: string;
  bytes?: Buffer;
};

let made = 0;

/** A version that no other release has: the upload form proposes the next patch, and tests take it. */
const uniqueVersion = () => `1.${1000 + ++made}.0`;

/** Uploads a small program as a release: published for Windows x64, with a unique version. */
export async function makeRelease(
  server: ConsoleServer,
  build: Build = {},
  change: Patch = {},
): Promise<Release> {
  const { version = uniqueVersion(), channel = 'stable', platform = 'win32', architecture = 'x64' } = build;
  const { fileName = 'Setup.exe', bytes = program(1024) } = build;
  const up = uploader(server.url, server.admin, await keyOf(server));
  const file: [Buffer, string] = [bytes, fileName];
  const answer = await up.direct({ version, channel, platform, architecture, is_draft: 'true', file });
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
  const { data } = answer.body;
  const params = { releaseId: data.id };
  return server.admin.ok(releases.update, { params, body: { isDraft: false, ...change } });
}

export type Reported = Omit<RouteRequest<typeof updateEvents.report>['body']['events'][number], 'eventId'>;

/** Sends the reports of machines, and waits until they are stored. */
export async function report(server: ConsoleServer, events: Reported[]): Promise<void> {
  const { headers } = await keyOf(server);
  const body = { events: events.map((event) => ({ eventId: randomUUID(), ...event })) };
  await server.api(headers).ok(updateEvents.report, { body });
  await eventually(async () => {
    const ids = body.events.map(({ eventId }) => eventId);
    const written = await server.db
      .selectFrom('update_events')
      .select('event_id')
      .where('event_id', 'in', ids)
      .execute();
    return written.length === ids.length;
  });
}

/**
 * Finds this many machines that are offered the release, and downloads its file as an updater does. Returns their ids.
 */
export async function takeUpdate(server: ConsoleServer, release: Release, wanted: number): Promise<string[]> {
  const { headers } = await keyOf(server);
  const feed = `${server.url}/api/v1/updates/electron/${release.platform}/${release.architecture}/latest.yml`;
  const file = server.url + new URL(release.fileUrl).pathname;
  const taken: string[] = [];
  for (let n = 0; taken.length < wanted && n < 20 * wanted; n++) {
    const machineId = `takes ${release.id} ${n}`;
    const asked = { headers: { ...headers, 'x-machine-id': machineId } };
    const offered = await (await fetch(feed, asked)).text();
    if (!offered.includes(`version: "${release.version}"`)) continue;
    await (await fetch(file, asked)).arrayBuffer();
    taken.push(machineId);
  }
  await eventually(async () => {
    const rows = await server.db
      .selectFrom('downloads')
      .select('completed_at')
      .where('release_id', '=', release.id)
      .where('completed_at', 'is not', null)
      .execute();
    return rows.length >= wanted;
  });
  return taken;
}
