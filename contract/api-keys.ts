import { z } from 'zod';
import { answeredInstant, id, instant, requiredText, seenVersion, text } from './common.ts';
import { apiKeyScopes, route, staffWith } from './route.ts';

/** An API key as it is shown: the secret itself is answered once, when the key is made. */
const apiKey = z
  .object({
    id: z.string(),
    name: z.string(),
    keyPrefix: z.string(),
    isActive: z.boolean(),
    revokedAt: answeredInstant.nullable().meta({ description: 'Set for good by a revocation' }),
    scopes: z.array(z.enum(apiKeyScopes)),
    expiresAt: answeredInstant.nullable(),
    rateLimit: z.number().meta({ description: 'Requests per hour' }),
    ipWhitelist: z.array(z.string()),
    totalRequests: z.number(),
    createdAt: answeredInstant,
    lastUsedAt: answeredInstant.nullable(),
    updatedAt: answeredInstant.meta({ description: 'Of name, state, limits or scopes; use leaves it' }),
  })
  .meta({ id: 'ApiKey' });

export type ApiKey = z.output<typeof apiKey>;

export const defaultRateLimit = 1000;

const ipWhitelist = z.array(text(64).min(1)).max(500).meta({ description: 'IP addresses or CIDR ranges' });

const rateLimit = z
  .number('Rate limit is required')
  .int('Must be a whole number')
  .min(1, 'Rate limit must be at least 1')
  .max(1_000_000_000);

export const apiKeyInput = z.strictObject({
  name: requiredText(200, 'Name is required'),
  expiresAt: instant,
  rateLimit: rateLimit.default(defaultRateLimit),
  ipWhitelist: ipWhitelist.optional(),
  scopes: z.array(z.enum(apiKeyScopes)).min(1, 'At least one scope is required').default(['validate']),
});
export type ApiKeyInput = z.output<typeof apiKeyInput>;

export const apiKeys = {
  list: route({
    method: 'GET',
    path: '/api/v1/api-keys',
    summary: 'All API keys, without their secrets',
    access: staffWith('api_keys', 'read'),
    answer: z.object({ apiKeys: z.array(apiKey) }),
  }),
  impact: route({
    method: 'GET',
    path: '/api/v1/api-keys/{keyId}/impact',
    summary: 'Validations with the key in the last 24 hours, and the machines that made them',
    access: staffWith('api_keys', 'read'),
    params: z.object({ keyId: id }),
    answer: z.object({ validations: z.number(), machines: z.number() }).meta({ id: 'ApiKeyImpact' }),
    errors: ['NOT_FOUND'],
  }),
  create: route({
    method: 'POST',
    path: '/api/v1/api-keys',
    summary: 'Create a key; the answer is the only time that it is shown whole',
    access: staffWith('api_keys', 'create'),
    body: apiKeyInput,
    answer: apiKey.extend({ key: z.string() }).meta({ id: 'NewApiKey' }),
    status: 201,
    shownOnce: true,
    errors: ['RULE_VIOLATED'],
  }),
  update: route({
    method: 'PATCH',
    path: '/api/v1/api-keys/{keyId}',
    summary: 'Change name, state, expiry, limit, whitelist or scopes of a key that is not revoked',
    access: staffWith('api_keys', 'update'),
    params: z.object({ keyId: id }),
    body: z
      .strictObject({
        name: requiredText(200, 'Name is required'),
        isActive: z.boolean(),
        expiresAt: instant,
        rateLimit,
        ipWhitelist,
        scopes: z.array(z.enum(apiKeyScopes)).min(1, 'At least one scope is required'),
        updatedAt: seenVersion,
      })
      .partial(),
    answer: apiKey,
    errors: ['NOT_FOUND', 'WRONG_STATE', 'RULE_VIOLATED', 'EDIT_CONFLICT'],
  }),
  revoke: route({
    method: 'DELETE',
    path: '/api/v1/api-keys/{keyId}',
    summary: 'Revoke a key: it is refused at once, and for good',
    access: staffWith('api_keys', 'delete'),
    params: z.object({ keyId: id }),
    errors: ['NOT_FOUND', 'WRONG_STATE'],
  }),
};
