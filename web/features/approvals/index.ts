export { useDraftOnly } from './use-draft-only.ts';
