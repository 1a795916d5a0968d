export { apiKeysForToday } from './api-key-attention.ts';
export {
  type ApiKeyCheck,
  type KeyAttack,
  createApiKey,
  createApiKeyCheck,
  revokeApiKey,
} from './api-keys.ts';
