export { impactOfCustomers } from './license-impact.ts';
export { parseLicenseKey } from './license-key.ts';
export { createLicense, findLicenseId, revokeLicense } from './licenses.ts';
