import { z } from 'zod';
import { architectureName, platformName } from './builds.ts';
import { architectures, channels } from './list-words.ts';
import { credentialQuery } from './common.ts';
import { apiKeyOrStaffWith, route } from './route.ts';

/** Linux package formats of electron-updater; a feed lists one of them. */
export const linuxKinds = ['appimage', 'deb', 'rpm'] as const;

/**
 * Query parameters of a feed. Updaters add parameters of their own (`noCache`, `arch`), which are ignored; an invalid
 * id or version counts as unknown.
 */
const feedQuery = {
  ...credentialQuery,
  machineId: z.string().optional().meta({
    description:
      'Or the header X-Machine-Id, or x-user-staging-id; with a machine token, the machine is its own',
  }),
  currentVersion: z.string().optional().meta({ description: 'Or the header X-App-Version' }),
};

/** Squirrel.Windows retries a failed request with its whole URL in lower case. */
const lowerCased = { machineid: z.string().optional(), currentversion: z.string().optional() };

/** Of a name or version: what is longer counts as unknown, since reading it takes the square of its length. */
const longestName = 200;
const name = z.string().transform((text) => (text.length > longestName ? undefined : text));

const channel = z.enum(channels).default('stable');

const feed = {
  access: apiKeyOrStaffWith('updates', 'releases', 'read'),
  apiKeyInQuery: true,
} as const;
const base = '/api/v1/updates';

/** The feeds return YAML, text or JSON in the format of each updater. */
export const updates = {
  electron: route('GET', `${base}/electron/{platform}/{architecture}/{file}`, {
    ...feed,
    raw: { 200: 'text/yaml' },
    summary:
      'Feed of electron-updater: latest.yml (stable), beta.yml or alpha.yml, with -mac or -linux before the extension',
    params: z.object({
      platform: platformName,
      architecture: architectureName,
      file: z.string().max(100),
    }),
    query: z.object({ ...feedQuery, kind: z.enum(linuxKinds).optional() }),
    errors: ['NOT_FOUND'],
  }),
  squirrelWindows: route('GET', `${base}/squirrel/win32/{architecture}/RELEASES`, {
    ...feed,
    alias: `${base}/squirrel/win32/{architecture}/releases`,
    raw: { 200: 'text/plain' },
    summary: 'Feed of Squirrel.Windows',
    params: z.object({ architecture: z.enum(architectures) }),
    query: z
      .object({
        ...feedQuery,
        ...lowerCased,
        channel,
        id: name.optional().meta({ description: 'Package name; sent by Squirrel' }),
        localVersion: name.optional().meta({ description: 'Installed version; sent by Squirrel' }),
        localversion: name.optional(),
      })
      .transform(({ currentversion, localversion, ...query }) => ({
        ...query,
        currentVersion: query.currentVersion ?? currentversion,
        localVersion: query.localVersion ?? localversion,
      })),
  }),
  squirrelMac: route('GET', `${base}/squirrel/darwin/{architecture}/{version}`, {
    ...feed,
    raw: { 200: 'application/json', 204: null },
    summary: 'Feed of Squirrel.Mac for an installed version; 204 when there is no newer one',
    params: z.object({ architecture: architectureName, version: z.string().max(100) }),
    query: z.object({ ...feedQuery, channel }),
  }),
};
