import type { FastifyRequest } from 'fastify';
import type { Architecture, Platform } from '../../../contract/builds.ts';
import type { Caller } from '../../caller.ts';
import { type Channel, isVersion } from '../../../contract/versions.ts';
import { machineHashOf } from './machine-id.ts';

/** What may stand in the address of every feed. */
export type Asked = {
  key?: string | undefined;
  machineId?: string | undefined;
  currentVersion?: string | undefined;
};

/** Who asks a feed, as far as they say. */
export type FeedRequest = {
  by: Caller;
  platform: Platform;
  architecture: Architecture;
  channel: Channel;
  /** As the client says it now; a machine's last report may know it where this does not. */
  currentVersion: string | undefined;
  machineHash: string | undefined;
  /** A HEAD tells nothing of an updater. */
  isCheck: boolean;
};

const header = (request: FastifyRequest, name: string): string | undefined => {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
};

/**
 * The machine that asks: by the id that the app sets in a header or in the feed's address, else by the id that
 * electron-updater makes up for each installation.
 */
export function machineOf(request: FastifyRequest, { machineId }: Asked): string | undefined {
  const id = [header(request, 'x-machine-id'), machineId, header(request, 'x-user-staging-id')]
    .map((text) => text?.trim())
    .find((text) => text !== undefined && text !== '' && text.length <= 256);
  return id === undefined ? undefined : machineHashOf(id);
}

/** The version that the client says it runs, where it is one. */
export function versionOf(request: FastifyRequest, { currentVersion }: Asked): string | undefined {
  return [header(request, 'x-app-version'), currentVersion].find(
    (text) => text !== undefined && isVersion(text),
  );
}

/** What of the feed's address its files need as well: who asks, and by what right. */
export function carriedQuery({ key, machineId }: Asked): string {
  const carried = Object.entries({ key, machineId }).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(carried as [string, string][]).toString();
  return query && `?${query}`;
}
