export { DraftOnly } from './DraftOnly.tsx';
