import { apiKeys as calls } from '../../../contract/api-keys.ts';
import type { Context } from '../../context.ts';
import { change, implement } from '../../http/call.ts';
import { createApiKey, impactOfApiKey, listApiKeys, revokeApiKey, updateApiKey } from './api-keys.ts';

export const apiKeyRoutes = ({ db }: Context) =>
  implement(calls, {
    list: ({ query }) => listApiKeys(db, query),
    impact: ({ by, params }) => impactOfApiKey(db, by.now, params.keyId),
    create: change((tx, { by, body }) => createApiKey(tx, by, body)),
    update: change((tx, { by, params, body: { updatedAt, ...patch }, ifMatch }) =>
      updateApiKey(tx, by, params.keyId, patch, updatedAt ?? ifMatch),
    ),
    revoke: change((tx, { by, params }) => revokeApiKey(tx, by, params.keyId)),
  });
