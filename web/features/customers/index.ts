export { CustomerModal, PermanentDelete, ReactivateCustomer } from './lazy.ts';
export { customerChoicesQuery, customerQuery } from './queries.ts';
