import { lazyPart } from '../../ui/lazy-part.ts';

/** Confirmation of a restore. */
export const ReactivateCustomer = lazyPart(() => import('./ReactivateCustomer.tsx'));
/** Confirmation of a permanent deletion, and the deletion. */
export const PermanentDelete = lazyPart(() => import('./PermanentDelete.tsx'));

/** Add Customer, or Edit Customer. */
export const CustomerModal = lazyPart(() => import('./CustomerModal.tsx'));
