import { apiKeys as calls } from '../../../contract/api-keys.ts';
import type { Context } from '../../context.ts';
import { inChange, implement } from '../../http/call.ts';
import { createApiKey, impactOfApiKey, listApiKeys, revokeApiKey, updateApiKey } from './api-keys.ts';

export const apiKeyRoutes = ({ db }: Context) =>
  implement(calls, {
    list: ({ query }) => listApiKeys(db, query),
    impact: ({ by, params }) => impactOfApiKey(db, by.now, params.keyId),
    create: inChange(({ tx }, { by, body }) => createApiKey(tx, by, body)),
    update: inChange(({ tx }, { by, params, body: patch, seen }) =>
      updateApiKey(tx, by, params.keyId, patch, seen),
    ),
    revoke: inChange(({ tx }, { by, params }) => revokeApiKey(tx, by, params.keyId)),
  });
