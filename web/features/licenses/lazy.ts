import { lazy } from 'react';

/** Creates or shows a license. */
export const LicenseModal = lazy(() => import('./LicenseModal.tsx'));
