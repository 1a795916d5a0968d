import { lazy } from 'react';

/** Loads the words of every field with it, which no list needs. */
export const FieldChanges = lazy(() => import('./FieldChanges.tsx'));
