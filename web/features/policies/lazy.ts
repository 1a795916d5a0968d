import { lazyPart } from '../../ui/lazy-part.ts';

/** The tags and the update policy of a customer. */
export const CustomerPolicyModal = lazyPart(() => import('./CustomerPolicyModal.tsx'));
/** The update policy of all customers with a tag. */
export const TagPolicyModal = lazyPart(() => import('./TagPolicyModal.tsx'));
