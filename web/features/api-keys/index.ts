export { apiKeysOfQuery, revokeApiKey } from './queries.ts';
