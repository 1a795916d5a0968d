export { createCustomer, findCustomer, softDeleteCustomer } from './customers.ts';
