import { lazy } from 'react';

/** Creates the customers of a CSV file. */
export const ImportCustomers = lazy(() => import('./ImportCustomers.tsx'));
/** Issues the licenses of a CSV file. */
export const ImportLicenses = lazy(() => import('./ImportLicenses.tsx'));
