export { removeOrphans, requireOwn } from './orphans.ts';
export { cancelAbandoned } from './uploads.ts';
