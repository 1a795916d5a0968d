import { lazy } from 'react';

/** `License Activations`; the screen that opens it passes the license. */
export const ActivationsModal = lazy(() => import('./ActivationsModal.tsx'));
