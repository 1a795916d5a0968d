import { lazyPart } from '../../ui/lazy-part.ts';

/** Creates the customers of a CSV file. */
export const ImportCustomers = lazyPart(() => import('./ImportCustomers.tsx'));
/** Issues the licenses of a CSV file. */
export const ImportLicenses = lazyPart(() => import('./ImportLicenses.tsx'));
