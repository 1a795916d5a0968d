import { lazyPart } from '../../ui/lazy-part.ts';

/** `License Activations`; the screen that opens it passes the license. */
export const ActivationsModal = lazyPart(() => import('./ActivationsModal.tsx'));

/** The question whether to take the seat of a machine. */
export const LazyDeactivate = lazyPart(() => import('./Deactivate.tsx'));
