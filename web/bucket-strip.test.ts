import fc from 'fast-check';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { BucketStrip } from './BucketStrip.tsx';

/** The ends of what a strip of that width draws, in pixels. */
function drawn(percentage: number, bucket: number, stripWidth: number) {
  const svg = renderToStaticMarkup(createElement(BucketStrip, { percentage, bucket }));
  const [filled = '', mark = ''] = svg.match(/<rect[^>]*>/g)!;
  const part = (rect: string, name: string) => {
    const value = new RegExp(` ${name}="([\\d.]+)(%?)"`).exec(rect)!;
    return value[2] ? (Number(value[1]) * stripWidth) / 100 : Number(value[1]);
  };
  const from = part(mark, 'x') + Number(/translate\((-?[\d.]+)\)/.exec(mark)?.[1] ?? 0);
  return { filledTo: part(filled, 'width'), from, to: from + part(mark, 'width'), svg };
}

const buckets = fc.integer({ min: 0, max: 9999 }).map((hundredths) => hundredths / 100);

test('the mark of a machine is inside of what is filled exactly when its bucket is below the percentage', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 100 }),
      fc.oneof(buckets, fc.integer({ min: 0, max: 99 })),
      fc.integer({ min: 40, max: 1000 }),
      (percentage, bucket, width) => {
        const { filledTo, from, to, svg } = drawn(percentage, bucket, width);
        if (bucket < percentage) expect(to).toBeLessThanOrEqual(filledTo + 1e-9);
        else expect(from).toBeGreaterThanOrEqual(filledTo - 1e-9);
        expect(svg).toContain(bucket < percentage ? 'inside' : 'outside');
      },
    ),
  );
});

test('a strip says in words what it draws', () => {
  expect(drawn(5, 19.12, 100).svg).toContain('aria-label="Rollout 5 %, bucket 19.12 outside"');
  expect(renderToStaticMarkup(createElement(BucketStrip, { percentage: 5 }))).toContain('"Rollout 5 %"');
});
