export { platformText, unusualKind } from './release-words.ts';
