export { impactOfCustomers } from './license-impact.ts';
export { parseLicenseKey } from './license-key.ts';
export { createLicense, revokeLicense } from './licenses.ts';
