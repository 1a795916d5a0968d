import { lazy } from 'react';

/** Confirmation of a restore. */
export const ReactivateCustomer = lazy(() => import('./ReactivateCustomer.tsx'));
/** Confirmation of a permanent deletion, and the deletion. */
export const PermanentDelete = lazy(() => import('./PermanentDelete.tsx'));

/** Add Customer, or Edit Customer. */
export const CustomerModal = lazy(() => import('./CustomerModal.tsx'));
