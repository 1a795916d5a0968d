import { z } from 'zod';
import {
  dateTime,
  id,
  instant,
  integer,
  namedObject,
  requiredInstant,
  requiredLine,
  seenVersion,
  line,
} from './common.ts';
import { lackedOf, permit, type Needs, type Permission } from './permissions.ts';
import { apiKeyScopes, route, staffWith, type ApiKeyScope } from './route.ts';
import { apiKeyAttentions } from './list-words.ts';

/**
 * The permissions that staff need to give a key a scope, so that a key can do no more than its creator.
 * Covers every call that the scope opens; a key of the scope `releases` also publishes.
 */
export const scopeNeeds: Record<ApiKeyScope, Needs> = {
  validate: [[permit('licenses', 'update')]],
  updates: [[permit('releases', 'read')], [permit('rollouts', 'update')]],
  releases: [[permit('releases', 'create')], [permit('rollouts', 'create'), permit('rollouts', 'update')]],
};

/** The permissions missing from `held` for a scope, as text: `rollouts:create or rollouts:update`. */
export const lacksForScope = (scope: ApiKeyScope, held: readonly Permission[]): string[] =>
  lackedOf(held, scopeNeeds[scope]);

/** The creator of a key. The key remains valid when the user is deactivated or deleted; staff see this state. */
const apiKeyMaker = namedObject('ApiKeyMaker', {
  userId: z.string().nullable().meta({ description: 'Null when the user was deleted' }),
  email: z.string(),
  status: z.enum(['active', 'inactive', 'deleted']),
  lacks: z
    .array(z.string())
    .meta({ description: 'Permissions that the scopes require and the creator no longer has' }),
});

/** An API key without its secret, which only the response of its creation contains. */
const apiKey = namedObject('ApiKey', {
  id: z.string(),
  name: z.string(),
  keyPrefix: z.string(),
  isActive: z.boolean(),
  revokedAt: dateTime.nullable().meta({ description: 'When the key was revoked; cannot be undone' }),
  scopes: z.array(z.enum(apiKeyScopes)),
  expiresAt: dateTime.nullable(),
  rateLimit: z.number().meta({ description: 'Requests per hour' }),
  ipWhitelist: z.array(z.string()),
  totalRequests: z.number(),
  createdAt: dateTime,
  lastUsedAt: dateTime.nullable(),
  lastUsedIp: z.string().nullable().meta({ description: 'IP address of the last use' }),
  maker: apiKeyMaker.nullable().meta({ description: 'Null for a key that Lanyard created itself' }),
  updatedAt: dateTime.meta({
    description: 'When name, state, limits or scopes last changed; using the key does not change it',
  }),
});

export type ApiKey = z.output<typeof apiKey>;

/** Why a key needs a person. */
export type ApiKeyAttention = (typeof apiKeyAttentions)[number];

export const defaultRateLimit = 1000;
export const highestRateLimit = 1_000_000_000;

const ipWhitelist = z.array(line(64).min(1)).max(500).meta({ description: 'IP addresses or CIDR ranges' });

const rateLimit = integer(1, highestRateLimit, 'Rate limit must be at least 1');

const scopes = z
  .array(z.enum(apiKeyScopes))
  .min(1, 'At least one scope is required')
  .max(apiKeyScopes.length)
  // their order has no meaning
  .overwrite((list) => apiKeyScopes.filter((scope) => list.includes(scope)));

export const apiKeyInput = z.strictObject({
  name: requiredLine(200, 'Name is required'),
  expiresAt: requiredInstant('Expiration date is required'),
  rateLimit: rateLimit.default(defaultRateLimit),
  ipWhitelist: ipWhitelist.optional(),
  scopes: scopes.default(['validate']),
});
export type ApiKeyInput = z.output<typeof apiKeyInput>;

export const apiKeyPatch = z
  .strictObject({
    name: requiredLine(200, 'Name is required'),
    isActive: z.boolean(),
    expiresAt: instant,
    rateLimit,
    ipWhitelist,
    scopes,
    updatedAt: seenVersion,
  })
  .partial();

export const apiKeys = {
  list: route('GET', '/api/v1/api-keys', {
    summary: 'All API keys, or those that one user created, without their secrets',
    access: staffWith('api_keys', 'read'),
    query: z.strictObject({
      createdBy: id.optional(),
      attention: z.enum(apiKeyAttentions).optional().meta({
        description:
          'ending: expires within 30 days; refused: was refused within 24 hours; limited: used up a budget in this hour or the one before',
      }),
    }),
    answer: z.object({ apiKeys: z.array(apiKey) }),
  }),
  get: route('GET', '/api/v1/api-keys/{keyId}', {
    summary: 'One API key, without its secret',
    access: staffWith('api_keys', 'read'),
    params: z.object({ keyId: id }),
    answer: apiKey,
  }),
  impact: route('GET', '/api/v1/api-keys/{keyId}/impact', {
    summary: 'Validations with the key in the last 24 hours, and the number of machines',
    access: staffWith('api_keys', 'read'),
    params: z.object({ keyId: id }),
    answer: namedObject('ApiKeyImpact', { validations: z.number(), machines: z.number() }),
  }),
  create: route('POST', '/api/v1/api-keys', {
    summary:
      'Create an API key with at most the permissions of its creator; only this response contains the complete key',
    access: staffWith('api_keys', 'create'),
    body: apiKeyInput,
    answer: apiKey.extend({ key: z.string() }).meta({ id: 'NewApiKey' }),
    status: 201,
    shownOnce: true,
    errors: ['RULE_VIOLATED'],
  }),
  update: route('PATCH', '/api/v1/api-keys/{keyId}', {
    summary:
      'Change name, state, expiry, limit, whitelist or scopes of a key that is not revoked; scopes that the caller lacks cannot be added',
    access: staffWith('api_keys', 'update'),
    params: z.object({ keyId: id }),
    body: apiKeyPatch,
    answer: apiKey,
    errors: ['WRONG_STATE', 'RULE_VIOLATED'],
  }),
  revoke: route('DELETE', '/api/v1/api-keys/{keyId}', {
    summary: 'Revoke a key: it is refused immediately and permanently',
    access: staffWith('api_keys', 'delete'),
    params: z.object({ keyId: id }),
    errors: ['WRONG_STATE'],
  }),
};
