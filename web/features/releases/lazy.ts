import { lazyPart } from '../../ui/lazy-part.ts';

export type { AskedChange } from './ChangeRelease.tsx';

/** The confirmation of a change of a release, loaded when it is asked for. */
export const LazyChangeRelease = lazyPart(() => import('./ChangeRelease.tsx'));

export const LazyEditRelease = lazyPart(() => import('./EditRelease.tsx'));
