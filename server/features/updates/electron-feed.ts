import type { FastifyReply } from 'fastify';
import { architectures, type Architecture, type Platform } from '../../../contract/builds.ts';
import type { Channel } from '../../../contract/versions.ts';
import { linuxKinds, type updates as calls } from '../../../contract/updates.ts';
import { fail, type Failure } from '../../failure.ts';
import type { Call } from '../../http/call.ts';
import type { LiveRelease } from '../releases/index.ts';
import { machineOf } from '../update-events/index.ts';
import { versionOf } from './feed-request.ts';
import { check, filePath, type Feeds } from './feeds.ts';

const suffixes: Record<Platform, string> = { win32: '', darwin: '-mac', linux: '-linux' };

/**
 * Feed of electron-updater, `{channel}{-mac|-linux}[-arch].yml`. "No update" is a document as well: the client
 * takes any other answer for an error.
 */
export async function electronFeed(
  feeds: Feeds,
  { by, params, query, http }: Call<typeof calls.electron>,
): Promise<FastifyReply | Failure> {
  const file = parseFile(params.file, params.platform);
  if (!file) return fail('NOT_FOUND', `There is no such feed for ${params.platform}.`);
  const { request, reply } = http;
  const asked = {
    by,
    platform: params.platform,
    architecture: file.architecture ?? params.architecture,
    channel: file.channel,
    currentVersion: versionOf(request, query),
    machineHash: machineOf(request, query),
    isCheck: request.method !== 'HEAD',
  };
  const kinds = {
    win32: ['exe'],
    darwin: ['zip'],
    linux: query.kind ? ([query.kind] as const) : linuxKinds,
  } as const;
  const { release, otherKinds, reason } = await check(
    feeds,
    asked,
    kinds[params.platform],
    await feeds.releaseSet(),
  );
  const text = release ? updateOf(feeds, release, otherKinds) : noUpdate(asked.currentVersion);
  return reply
    .type('text/yaml; charset=utf-8')
    .header('x-update-reason', reason ?? 'NONE')
    .send(text);
}

/** `latest-linux-arm64.yml`: on Linux the running program names its own architecture. */
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

/** JSON is YAML, and quotes whatever a version or a note may hold. */
const quoted = (text: string) => JSON.stringify(text);

/**
 * An updater of Linux takes from `files` what ends as its own kind does. `path` and `sha512` beside `files` are for
 * clients of old; what follows them reaches the app as it stands.
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
 * The version that the client runs is no update, whatever its settings. Where it does not say it, a rollout of 0 %
 * says the same, also to an app that allows downgrades: what it last reported may not be what it runs.
 */
function noUpdate(currentVersion: string | undefined): string {
  return currentVersion === undefined
    ? 'version: "0.0.0"\nfiles: []\nstagingPercentage: 0\n'
    : `version: ${quoted(currentVersion)}\nfiles: []\n`;
}
