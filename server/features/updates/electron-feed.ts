import type { FastifyReply } from 'fastify';
import type { Architecture, Platform } from '../../../contract/builds.ts';
import { architectures } from '../../../contract/list-words.ts';
import type { Channel } from '../../../contract/versions.ts';
import { linuxKinds, type updates as calls } from '../../../contract/updates.ts';
import { fail, type Failure } from '../../failure.ts';
import type { Call } from '../../http/call.ts';
import type { LiveRelease } from '../releases/index.ts';
import { versionOf } from './feed-request.ts';
import { check, filePath, type Feeds } from './feeds.ts';

const suffixes: Record<Platform, string> = { win32: '', darwin: '-mac', linux: '-linux' };

/**
 * Feed of electron-updater, `{channel}{-mac|-linux}[-arch].yml`. "No update" is a document as well: the client treats
 * any other response as an error.
 */
export async function electronFeed(
  feeds: Feeds,
  call: Call<typeof calls.electron>,
): Promise<FastifyReply | Failure> {
  const { params, query, http } = call;
  const file = parseFile(params.file, params.platform);
  if (!file) return fail('NOT_FOUND', `There is no such feed for ${params.platform}.`);
  const updater = {
    platform: params.platform,
    architecture: file.architecture ?? params.architecture,
    channel: file.channel,
    currentVersion: versionOf(http.request, query),
  };
  const kinds = {
    win32: ['exe'],
    darwin: ['zip'],
    linux: query.kind ? ([query.kind] as const) : linuxKinds,
  } as const;
  const { release, otherKinds } = await check(feeds, call, updater, kinds[params.platform]);
  const text = release ? updateOf(feeds, release, otherKinds) : noUpdate(updater.currentVersion);
  return http.reply.type('text/yaml; charset=utf-8').send(text);
}

/** `latest-linux-arm64.yml`: on Linux the client adds its own architecture. */
function parseFile(
  file: string,
  platform: Platform,
): { channel: Channel; architecture: Architecture | undefined } | undefined {
  const match = /^(latest|stable|beta|alpha)(-mac|-linux)?(?:-(\w+))?\.yml$/.exec(file);
  if (!match || (match[2] ?? '') !== suffixes[platform]) return undefined;
  const architecture = match[3] as Architecture | undefined;
  if (architecture !== undefined && (platform !== 'linux' || !architectures.includes(architecture)))
    return undefined;
  return { channel: match[1] === 'latest' ? 'stable' : (match[1] as Channel), architecture };
}

/** JSON is valid YAML, and escapes all characters of versions and notes. */
const quoted = (text: string) => JSON.stringify(text);

/**
 * On Linux, updaters select the entry of `files` with their own extension. `path` and `sha512` next to `files` are for
 * old clients; the fields after them reach the app unchanged.
 */
function updateOf(feeds: Feeds, release: LiveRelease, otherKinds: readonly LiveRelease[]): string {
  const lines = [
    `version: ${quoted(release.version)}`,
    'files:',
    ...[release, ...otherKinds].flatMap((one) => fileOf(feeds, one)),
    `path: ${quoted(filePath(feeds, release))}`,
    `sha512: ${quoted(release.sha512)}`,
    `releaseDate: ${quoted(release.releaseDate)}`,
    ...(release.releaseNotes === null ? [] : [`releaseNotes: ${quoted(release.releaseNotes)}`]),
    `releaseId: ${quoted(release.id)}`,
    `isMandatory: ${release.isMandatory}`,
  ];
  return `${lines.join('\n')}\n`;
}

const fileOf = (feeds: Feeds, release: LiveRelease): string[] => [
  `  - url: ${quoted(filePath(feeds, release))}`,
  `    sha512: ${quoted(release.sha512)}`,
  `    size: ${release.fileSize}`,
  ...(release.embeddedBlockmapSize === null ? [] : [`    blockMapSize: ${release.embeddedBlockmapSize}`]),
];

/**
 * The client's current version is no update, whatever its settings. If it is unknown, a rollout of 0 % has the same
 * effect, also for an app that allows downgrades: the last reported version may be outdated.
 */
function noUpdate(currentVersion: string | undefined): string {
  return currentVersion === undefined
    ? 'version: "0.0.0"\nfiles: []\nstagingPercentage: 0\n'
    : `version: ${quoted(currentVersion)}\nfiles: []\n`;
}
