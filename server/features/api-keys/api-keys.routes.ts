import { apiKeys as calls } from '../../../contract/api-keys.ts';
import type { Context } from '../../context.ts';
import { change, implement } from '../../http/call.ts';
import { createApiKey, listApiKeys, revokeApiKey } from './api-keys.ts';

export const apiKeyRoutes = ({ db }: Context) =>
  implement(calls, {
    list: () => listApiKeys(db),
    create: change((tx, { by, body }) => createApiKey(tx, by, body)),
    revoke: change((tx, { by, params }) => revokeApiKey(tx, by, params.keyId)),
  });
