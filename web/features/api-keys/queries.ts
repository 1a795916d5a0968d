import { queryOptions } from '@tanstack/react-query';
import { apiKeys, type ApiKey, type ApiKeyAttention } from '../../../contract/api-keys.ts';
import type { RouteRequest } from '../../../contract/route.ts';
import { call } from '../../api.ts';
import { live } from '../../live.ts';
import { alwaysFresh, askedOnce } from '../../query-client.ts';
import { queryOf } from '../../query-of.ts';

/** How often the usage figures are refetched where `live` queries are, in milliseconds. */
const usageEvery = 10_000;

/** All keys, or those that need somebody for this reason, the newest first. */
export const apiKeyListQuery = (attention?: ApiKeyAttention) =>
  queryOptions({
    queryKey: ['api-keys', 'list', attention],
    queryFn: async ({ signal }) => (await call(apiKeys.list, { query: { attention } }, { signal })).apiKeys,
    refetchInterval: (query) => live.refetchInterval(query) && usageEvery,
  });

/** The keys that one user created and that are not permanently revoked, the newest first. */
export const apiKeysOfQuery = (userId: string) =>
  queryOptions({
    queryKey: ['api-keys', 'of', userId],
    queryFn: async ({ signal }) => {
      const { apiKeys: made } = await call(apiKeys.list, { query: { createdBy: userId } }, { signal });
      return made.filter(({ revokedAt }) => revokedAt === null);
    },
    ...askedOnce,
  });

/** The keys whose name contains the text, or whose prefix begins with it. */
export async function findApiKeys(text: string, signal: AbortSignal): Promise<ApiKey[]> {
  const { apiKeys: all } = await call(apiKeys.list, {}, { signal });
  const wanted = text.toLowerCase();
  return all.filter(
    ({ name, keyPrefix }) => name.toLowerCase().includes(wanted) || keyPrefix.startsWith(wanted),
  );
}

export const apiKeyQuery = (id: string) => queryOf(apiKeys.get, { params: { keyId: id } }, alwaysFresh);

export type ApiKeyPayload = RouteRequest<typeof apiKeys.create>['body'];
/** Only changed fields, with the version that they were changed from. */
export type ApiKeyPatch = RouteRequest<typeof apiKeys.update>['body'];

export const createApiKey = (body: ApiKeyPayload) => call(apiKeys.create, { body });
export const updateApiKey = (keyId: string, body: ApiKeyPatch) =>
  call(apiKeys.update, { params: { keyId }, body });
/** How long the confirmation of a revocation waits for its numbers, in milliseconds. */
const timeoutMs = 3000;

/** Usage of a key in the last 24 hours. */
export const apiKeyImpactQuery = (keyId: string) => queryOf(apiKeys.impact, { params: { keyId } });

/** The same for the confirmation of a revocation; undefined where it is not available in time. */
export const apiKeyImpact = (keyId: string) =>
  call(apiKeys.impact, { params: { keyId } }, { signal: AbortSignal.timeout(timeoutMs) }).catch(
    () => undefined,
  );

export const revokeApiKey = (keyId: string, form?: object) =>
  call(apiKeys.revoke, { params: { keyId } }, { form });
