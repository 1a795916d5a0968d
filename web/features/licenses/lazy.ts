import { lazy } from 'react';

/** Creates or shows a license. */
export const LicenseModal = lazy(() => import('./LicenseModal.tsx'));

/** Extends a license where another screen names it. */
export const ExtendButton = lazy(() => import('./ExtendButton.tsx'));
