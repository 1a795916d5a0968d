export { ImportCustomers, ImportLicenses } from './lazy.ts';
