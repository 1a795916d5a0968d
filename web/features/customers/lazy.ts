import { lazy } from 'react';

/** Confirmation of a permanent deletion, and the deletion. */
export const PermanentDelete = lazy(() => import('./PermanentDelete.tsx'));
