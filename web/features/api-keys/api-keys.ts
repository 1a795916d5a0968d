import { queryOptions } from '@tanstack/react-query';
import { apiKeys } from '../../../contract/api-keys.ts';
import type { RouteRequest } from '../../../contract/route.ts';
import { call } from '../../api.ts';

/** Main module of the feature. */

/** How often the usage figures are asked for anew while the screen is looked at, in milliseconds. */
const usageEvery = 10_000;

/** All keys, the newest first. */
export const apiKeyListQuery = queryOptions({
  queryKey: ['api-keys', 'list'],
  queryFn: async ({ signal }) => (await call(apiKeys.list, undefined, { signal })).apiKeys,
  refetchInterval: usageEvery,
});

/** What the create modal sends. */
export type ApiKeyPayload = RouteRequest<typeof apiKeys.create>['body'];
/** What the edit modal sends: what was changed. */
export type ApiKeyPatch = RouteRequest<typeof apiKeys.update>['body'];

export const createApiKey = (body: ApiKeyPayload) => call(apiKeys.create, { body });
export const updateApiKey = (keyId: string, body: ApiKeyPatch) =>
  call(apiKeys.update, { params: { keyId }, body });
export const revokeApiKey = (keyId: string) => call(apiKeys.revoke, { params: { keyId } });
