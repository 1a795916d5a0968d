export { createCustomer, softDeleteCustomer } from './customers.ts';
