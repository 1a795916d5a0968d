export { CustomerFilter } from './CustomerFilter.tsx';
export { LicenseActivations } from './LicenseActivations.tsx';
export { LicensesOfCustomer } from './LicensesOfCustomer.tsx';
export { ExtendButton, LicenseModal } from './lazy.ts';
