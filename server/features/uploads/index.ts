export { removeOrphans } from './orphans.ts';
export { requireOwn } from './ownership.ts';
export { cancelAbandoned } from './uploads.ts';
