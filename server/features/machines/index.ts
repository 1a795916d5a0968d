export { foundBy } from './machine-row.ts';
