import { lazyPart } from '../../ui/lazy-part.ts';

/** Creates or shows a license. */
export const LicenseModal = lazyPart(() => import('./LicenseModal.tsx'));

/** Extends a license where another screen names it. */
export const ExtendButton = lazyPart(() => import('./ExtendButton.tsx'));
