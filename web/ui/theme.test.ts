import { DEFAULT_THEME } from '@mantine/core';
import { expect, test } from 'vitest';
import type { Tone } from './StatusBadge.tsx';
import { cssVariablesResolver, theme } from './theme.ts';

type Vector = [number, number, number];

/** Linear red, green and blue. */
const linear = (hex: string) =>
  [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as Vector;

const times = (matrix: Vector[], [r, g, b]: Vector) =>
  matrix.map(([x, y, z]) => x * r + y * g + z * b) as Vector;

/** WCAG 2.2, relative luminance. */
function luminance(hex: string): number {
  const [r, g, b] = linear(hex);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

test.each([
  ['light', '#ffffff'],
  ['dark', '#16171b'],
] as const)('in %s colors the edge of a field has 3:1 on all that it stands on', (scheme, card) => {
  const colors = cssVariablesResolver(DEFAULT_THEME)[scheme];
  for (const ground of [card, colors['--ui-page']!, colors['--ui-header']!, colors['--ui-hover']!]) {
    expect(contrast(colors['--ui-field-line']!, ground), ground).toBeGreaterThanOrEqual(3);
  }
});

test.each([
  ['light', '#ffffff'],
  ['dark', '#16171b'],
] as const)(
  'in %s colors what is drawn has 3:1 on a card, on the page and on a row under the pointer',
  (scheme, card) => {
    const colors: Record<string, string> = cssVariablesResolver(DEFAULT_THEME)[scheme];
    const solid = Object.keys(colors).filter((name) => name.endsWith('-solid'));
    for (const drawn of [...solid, '--mantine-color-dimmed'])
      for (const ground of [card, colors['--ui-page']!, colors['--ui-hover']!])
        expect(contrast(colors[drawn]!, ground), `${drawn} on ${ground}`).toBeGreaterThanOrEqual(3);
  },
);

/** Machado, Oliveira and Fernandes 2009, at full severity. */
const sights: Record<string, Vector[]> = {
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
};

/** OKLab, in which equal distances look equally different. */
function perceived(rgb: Vector): Vector {
  const cones = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    rgb.map((part) => Math.min(1, Math.max(0, part))) as Vector,
  ).map(Math.cbrt) as Vector;
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    cones,
  );
}

const distance = (one: Vector, other: Vector) =>
  Math.hypot(...one.map((part, axis) => part - other[axis as 0 | 1 | 2]));

// Text of a badge has to be dark on white and light on black, which leaves no room: there the word tells.
test.each([
  ['light', 'protanopia'],
  ['light', 'deuteranopia'],
  ['dark', 'protanopia'],
  ['dark', 'deuteranopia'],
] as const)('in %s colors, bars and lines of two states differ with %s', (scheme, sight) => {
  const colors: Record<string, string> = cssVariablesResolver(DEFAULT_THEME)[scheme];
  const solid = Object.keys(colors).filter((name) => name.endsWith('-solid'));
  expect(solid.length).toBeGreaterThan(3);
  const seen = [...solid.map((name) => colors[name]!), theme.colors!.ink![5]].map((hex) =>
    perceived(times(sights[sight]!, linear(hex))),
  );
  for (const [index, one] of seen.entries())
    for (const [at, other] of seen.slice(0, index).entries())
      expect(distance(one, other), `${solid[index] ?? 'ink'} and ${solid[at]}`).toBeGreaterThan(0.085);
});

const tones: Tone[] = ['teal', 'amber', 'orange', 'red', 'violet', 'neutral'];

test.each(['light', 'dark'] as const)('in %s colors, the word of every state is readable', (scheme) => {
  const colors = cssVariablesResolver(DEFAULT_THEME)[scheme];
  for (const tone of tones)
    expect(contrast(colors[`--ui-${tone}-text`]!, colors[`--ui-${tone}-bg`]!), tone).toBeGreaterThan(4.5);
});
