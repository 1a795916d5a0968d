import { lazy } from 'react';

export type { AskedChange } from './ChangeRelease.tsx';

/** The confirmation of a change of a release, loaded when it is asked for. */
export const LazyChangeRelease = lazy(() => import('./ChangeRelease.tsx'));
