import { apiKeys as calls } from '../../../contract/api-keys.ts';
import type { Context } from '../../context.ts';
import { inChange, implement } from '../../http/call.ts';
import {
  createApiKey,
  getApiKey,
  impactOfApiKey,
  listApiKeys,
  revokeApiKey,
  updateApiKey,
} from './api-keys.ts';

export const apiKeyRoutes = ({ db, reports }: Context) =>
  implement(calls, {
    list: ({ by, query }) => listApiKeys(db, by.now, query),
    get: ({ params }) => getApiKey(db, params.keyId),
    impact: ({ by, params }) => impactOfApiKey(reports, by.now, params.keyId),
    create: inChange((change, { body }) => createApiKey(change, body)),
    update: inChange((change, { params, body, seen }) => updateApiKey(change, params.keyId, body, seen)),
    revoke: inChange((change, { params }) => revokeApiKey(change, params.keyId)),
  });
