export { removeOrphans } from './orphans.ts';
export { cancelAbandoned } from './uploads.ts';
