export { Badges } from './release-cells.tsx';
export {
  type AskedChange,
  LazyChangeRelease as ChangeRelease,
  LazyEditRelease as EditRelease,
} from './lazy.ts';
export { unusualKind } from './release-labels.ts';
