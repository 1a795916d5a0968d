import { queryOptions } from '@tanstack/react-query';
import { apiKeys } from '../../../contract/api-keys.ts';
import type { RouteRequest } from '../../../contract/route.ts';
import { ApiError } from '../../api-error.ts';
import { call } from '../../api.ts';
import { askedOnce } from '../../query-client.ts';

/** How often the usage figures are asked for anew while the screen is looked at, in milliseconds. */
const usageEvery = 10_000;

/** All keys, the newest first. */
export const apiKeyListQuery = queryOptions({
  queryKey: ['api-keys', 'list'],
  queryFn: async ({ signal }) => (await call(apiKeys.list, undefined, { signal })).apiKeys,
  refetchInterval: usageEvery,
});

/** The keys that one person created and that are not revoked for good, the newest first. */
export const apiKeysOfQuery = (userId: string) =>
  queryOptions({
    queryKey: ['api-keys', 'of', userId],
    queryFn: async ({ signal }) => {
      const { apiKeys: made } = await call(apiKeys.list, { query: { createdBy: userId } }, { signal });
      return made.filter(({ revokedAt }) => revokedAt === null);
    },
    ...askedOnce,
  });

/** One key as it is now: always asked anew, since its `updatedAt` decides whether an edit may be saved. */
export const apiKeyQuery = (id: string) =>
  queryOptions({
    queryKey: ['api-keys', 'one', id],
    queryFn: async ({ signal }) => {
      const { apiKeys: all } = await call(apiKeys.list, undefined, { signal });
      const apiKey = all.find((one) => one.id === id);
      if (!apiKey) throw new ApiError(404, 'There is no such API key.');
      return apiKey;
    },
    gcTime: 0,
    refetchOnWindowFocus: false,
  });

/** What the create modal sends. */
export type ApiKeyPayload = RouteRequest<typeof apiKeys.create>['body'];
/** What the edit modal sends: what was changed, and which version it was changed from. */
export type ApiKeyPatch = RouteRequest<typeof apiKeys.update>['body'];

export const createApiKey = (body: ApiKeyPayload) => call(apiKeys.create, { body });
export const updateApiKey = (keyId: string, body: ApiKeyPatch) =>
  call(apiKeys.update, { params: { keyId }, body });
/** How long the question before a revocation waits for its numbers, in milliseconds. */
const patience = 3000;

/** What used a key in the last 24 hours. */
export const apiKeyImpactQuery = (keyId: string) =>
  queryOptions({
    queryKey: ['api-keys', 'impact', keyId],
    queryFn: ({ signal }) => call(apiKeys.impact, { params: { keyId } }, { signal }),
  });

/** The same for the question before a revocation; undefined where that cannot be told in time. */
export const apiKeyImpact = (keyId: string) =>
  call(apiKeys.impact, { params: { keyId } }, { signal: AbortSignal.timeout(patience) }).catch(
    () => undefined,
  );

export const revokeApiKey = (keyId: string) => call(apiKeys.revoke, { params: { keyId } });
