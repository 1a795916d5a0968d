import { lazyPart } from '../../ui/lazy-part.ts';

export const SessionList = lazyPart(() => import('./SessionList.tsx'));
