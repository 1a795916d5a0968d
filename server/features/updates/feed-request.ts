import type { FastifyRequest } from 'fastify';
import type { Architecture, Platform } from '../../../contract/builds.ts';
import type { Caller } from '../../caller.ts';
import { type Channel, isVersion } from '../../../contract/versions.ts';

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

/** The version that the client says it runs, where it is one. */
export function versionOf(request: FastifyRequest, { currentVersion }: Asked): string | undefined {
  return [request.headers['x-app-version'], currentVersion].find(
    (text): text is string => typeof text === 'string' && isVersion(text),
  );
}

/** What of the feed's address its files need as well: who asks, and by what right. */
export function carriedQuery({ key, machineId }: Asked): string {
  const carried = Object.entries({ key, machineId }).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(carried as [string, string][]).toString();
  return query && `?${query}`;
}
