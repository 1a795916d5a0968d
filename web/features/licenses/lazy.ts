import { lazy } from 'react';

/** Creates or shows a license. */
export const LicenseModal = lazy(() => import('./LicenseModal.tsx'));

/** The dialogs that the actions of licenses open. */
export const ListDialogs = lazy(() => import('./ListDialogs.tsx'));

/** Extends a license where another screen names it. */
export const ExtendButton = lazy(() => import('./ExtendButton.tsx'));
