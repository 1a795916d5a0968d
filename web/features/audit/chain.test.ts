import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { Chain } from './Chain.tsx';

test.each([
  ['whole', { links: 3, dotted: 0, joints: 2 }],
  // what follows the break is not verified
  ['broken', { links: 3, dotted: 1, joints: 2 }],
  ['checking', { links: 3, dotted: 3, joints: 0 }],
  ['unknown', { links: 3, dotted: 3, joints: 0 }],
] as const)('a chain that is %s shows no more links closed than are verified', (state, drawn) => {
  const svg = renderToStaticMarkup(createElement(Chain, { state, height: 9 }));
  const count = (pattern: RegExp) => svg.match(pattern)?.length ?? 0;
  expect({
    links: count(/<rect/g),
    dotted: count(/stroke-dasharray/g),
    joints: count(/<path/g),
  }).toEqual(drawn);
});
