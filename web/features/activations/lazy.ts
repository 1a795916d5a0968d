import { lazy } from 'react';

/** `License Activations`; the screen that opens it says for which license. */
export const ActivationsModal = lazy(() => import('./ActivationsModal.tsx'));
