export { platformText, unusualKind } from './release-labels.ts';
