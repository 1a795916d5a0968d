export { licensesForToday } from './license-attention.ts';
export { impactOfCustomers } from './license-impact.ts';
export { licenseCsvColumns } from './license-list.ts';
export { lockLicenseRow, selectLicenses, toLicense } from './license-row.ts';
export { endOwnershipsAhead, ownershipsOf } from './past-owners.ts';
export { licenseKeyFragment, parseLicenseKey } from './license-key.ts';
export { createLicense, revokeLicense } from './licenses.ts';
