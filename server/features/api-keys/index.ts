export { apiKeysForToday, isUsable } from './api-key-attention.ts';
export { type ApiKeyCheck, type KeyAttack, createApiKeyCheck } from './api-key-check.ts';
export { createApiKey, revokeApiKey } from './api-keys.ts';
export { endKeyTimesAhead } from './times-ahead.ts';
