import { lazyPart } from '../../ui/lazy-part.ts';

/** The dialogs that the actions of licenses open. */
export const ListDialogs = lazyPart(() => import('./ListDialogs.tsx'));
