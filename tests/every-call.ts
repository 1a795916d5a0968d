import { contract } from '../contract/index.ts';
import type { Route } from '../contract/route.ts';

/** Every call of the contract, by `feature.name`. */
export const everyCall = Object.entries(contract).flatMap(([feature, calls]) =>
  Object.entries(calls as Record<string, Route>).map(([name, route]): [string, Route] => [
    `${feature}.${name}`,
    route,
  ]),
);
