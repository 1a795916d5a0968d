export { ensureFirstAdmin, seedRoles } from './first-start.ts';
export { insertUser } from './user-row.ts';
