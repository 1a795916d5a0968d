import { lazy } from 'react';

/** The tags and the update policy of a customer. */
export const CustomerPolicyModal = lazy(() => import('./CustomerPolicyModal.tsx'));
/** The update policy of all customers with a tag. */
export const TagPolicyModal = lazy(() => import('./TagPolicyModal.tsx'));
