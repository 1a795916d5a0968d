import { lazy } from 'react';

/** The dialogs that the actions of licenses open. */
export const ListDialogs = lazy(() => import('./ListDialogs.tsx'));
