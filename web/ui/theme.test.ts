import { DEFAULT_THEME } from '@mantine/core';
import { expect, test } from 'vitest';
import { cssVariablesResolver } from './theme.ts';

/** WCAG 2.2, relative luminance. */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
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
