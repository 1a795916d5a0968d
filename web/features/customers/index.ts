export { PermanentDelete } from './lazy.ts';
export { customerChoicesQuery, customerQuery } from './queries.ts';
