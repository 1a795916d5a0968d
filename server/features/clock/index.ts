export { clockState } from './clock.ts';
