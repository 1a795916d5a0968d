import { lazy } from 'react';

/** The question before a soft-deleted customer is deleted for good, and the deletion. */
export const PermanentDelete = lazy(() => import('./PermanentDelete.tsx'));
