import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Architecture, Platform } from '../../../contract/builds.ts';
import type { Caller } from '../../caller.ts';
import { type Channel, isVersion } from '../../../contract/versions.ts';

/** Parameters that every feed accepts in its URL. */
type FeedQuery = {
  key?: string | undefined;
  token?: string | undefined;
  machineId?: string | undefined;
  currentVersion?: string | undefined;
};

/** The call of a feed. */
export type FeedCall = {
  by: Caller;
  query: FeedQuery;
  http: { request: FastifyRequest; reply: FastifyReply };
};

/** The build that an updater asks about. */
export type Updater = {
  platform: Platform;
  architecture: Architecture;
  channel: Channel;
  /** From the request; the machine's last report may replace a missing one. */
  currentVersion: string | undefined;
};

/** The version that the client reports, if valid. */
export function versionOf(request: FastifyRequest, { currentVersion }: FeedQuery): string | undefined {
  return [request.headers['x-app-version'], currentVersion].find(
    (text): text is string => typeof text === 'string' && isVersion(text),
  );
}

/**
 * The version that a Squirrel client runs; undefined if it cannot be read. Squirrel knows versions of two or four numbers
 * and installs what it is given, also over a newer version: such a one must not pass for unknown.
 */
export function squirrelRuns(version: string): string | undefined {
  const [, numbers = '', tag = ''] = /^(\d+(?:\.\d+){0,3})([-+].*)?$/.exec(version) ?? [];
  const three = [...numbers.split('.'), '0', '0'].slice(0, 3).join('.') + tag;
  return isVersion(three) ? three : undefined;
}

/** The query parameters of a feed that its file URLs need as well: machine, and API key or machine token. */
export function carriedQuery({ key, token, machineId }: FeedQuery): string {
  const carried = Object.entries({ key, token, machineId }).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(carried as [string, string][]).toString();
  return query && `?${query}`;
}
