import type { FastifyReply } from 'fastify';
import type { updates as calls } from '../../../contract/updates.ts';
import type { Call } from '../../http/call.ts';
import { filePathOf, type LiveRelease } from '../releases/index.ts';
import { asWritten } from '../update-events/index.ts';
import { carriedQuery, squirrelRuns, versionOf } from './feed-request.ts';
import { check, type Feeds } from './feeds.ts';
import { squirrelName, squirrelVersion } from './squirrel-name.ts';
import { present } from '../../invariants.ts';

/**
 * Feed of Squirrel.Windows: one line with the full package of the offer. The list is never empty, and the client
 * installs the listed version even if it is older; so a client without an update gets its own version.
 */
export async function squirrelWindowsFeed(
  feeds: Feeds,
  { by, params, query: sent, http }: Call<typeof calls.squirrelWindows>,
): Promise<FastifyReply> {
  const query = await asWritten(feeds.db, sent);
  const { live } = await feeds.releaseSet();
  const localVersion = query.localVersion || undefined;
  const running = localVersion && ownVersion(live, localVersion);
  const updater = {
    platform: 'win32' as const,
    architecture: params.architecture,
    channel: query.channel,
    currentVersion: running ?? versionOf(http.request, query),
  };
  const { release, currentVersion } = await check(feeds, { by, query, http }, updater, ['nupkg']);
  const line = release
    ? `${present(release.sha1, 'none without it is offered').toUpperCase()} ${packageUrl(feeds, release)}${carriedQuery(query)} ${release.fileSize}`
    : ownLine(query.id, localVersion ?? currentVersion ?? '0.0.0');
  return http.reply.type('text/plain; charset=utf-8').send(`${line}\n`);
}

/** Squirrel reads the name at the end; a relative one could match a package of another channel. */
const packageUrl = ({ config }: Feeds, release: LiveRelease) =>
  config.publicUrl + filePathOf({ ...release, fileName: squirrelName(release) });

/** A package that is never fetched, because its version is already installed. */
function ownLine(packageId: string | undefined, version: string): string {
  const name = squirrelName({ fileName: packageId ?? 'app', version: squirrelVersion(version) });
  return `${'0'.repeat(40)} ${name} 1`;
}

/**
 * The semver version of a Squirrel version. If no release has it, because it was deleted, its prerelease follows the
 * format of the others: `1.2.0-beta1` is older than `1.2.0-beta.2` only as `1.2.0-beta.1`.
 */
function ownVersion(releases: readonly LiveRelease[], localVersion: string): string | undefined {
  const packages = releases.filter((r) => r.fileKind === 'nupkg');
  const wanted = localVersion.toLowerCase();
  const named = packages.find((r) => squirrelVersion(r.version).toLowerCase() === wanted);
  if (named) return named.version;
  const [, numbers, word, count] = /^([^-]+-)([A-Za-z]+)(\d+)$/.exec(localVersion) ?? [];
  const isDotted = word !== undefined && packages.some((r) => r.version.startsWith(`${numbers}${word}.`));
  return squirrelRuns(isDotted ? `${numbers}${word}.${count}` : localVersion);
}

/** Feed of Squirrel.Mac: the update, or 204. */
export async function squirrelMacFeed(
  feeds: Feeds,
  call: Call<typeof calls.squirrelMac>,
): Promise<FastifyReply> {
  const { params, query, http } = call;
  const updater = {
    platform: 'darwin' as const,
    architecture: params.architecture,
    channel: query.channel,
    currentVersion: squirrelRuns(params.version),
  };
  const { release } = await check(feeds, call, updater, ['zip']);
  if (!release) return http.reply.code(204).send();
  return http.reply.type('application/json; charset=utf-8').send(
    JSON.stringify({
      url: feeds.config.publicUrl + filePathOf(release) + carriedQuery(query),
      name: release.version,
      notes: release.releaseNotes ?? '',
      // the date format of Squirrel.Mac has no fractional seconds
      pub_date: `${release.releaseDate.slice(0, 19)}+00:00`,
      releaseId: release.id,
      isMandatory: release.isMandatory,
    }),
  );
}
