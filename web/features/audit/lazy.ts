import { lazyPart } from '../../ui/lazy-part.ts';

/** Loads the words of every field with it, which no list needs. */
export const FieldChanges = lazyPart(() => import('./FieldChanges.tsx'));
