export { Badges } from './release-cells.tsx';
export { type AskedChange, LazyChangeRelease as ChangeRelease } from './lazy-change-release.ts';
export { unusualKind } from './release-labels.ts';
