import { Curve, Rectangle, type CurveProps, type DotItemDotProps, type RectangleProps } from 'recharts';

/** For `lineProps` of a chart that ends with today: the line from yesterday to today is dashed. */
export const dashedEnd = {
  shape: ({ points = [], ...line }: CurveProps) => (
    <>
      <Curve {...line} points={points.slice(0, -1)} />
      <Curve {...line} points={points.slice(-2)} strokeDasharray="3 4" data-unfinished />
    </>
  ),
};

/** For `lineProps` of a line with gaps: a point without neighbors, to which no line leads. */
export const loneDot = ({ index, points, cx, cy, stroke }: DotItemDotProps) => {
  const isDrawn = (at: number) => typeof points[at]?.y === 'number';
  const isLone = isDrawn(index) && !isDrawn(index - 1) && !isDrawn(index + 1);
  return isLone && <circle cx={cx} cy={cy} r={2.5} fill={stroke} />;
};

/** For `barProps` of a chart whose row of today has `unfinished`: an outline with a light fill. */
export const dashedBar = {
  shape: (bar: RectangleProps & { payload?: { unfinished?: boolean } }) =>
    bar.payload?.unfinished ? (
      <Rectangle
        {...bar}
        fillOpacity={0.3}
        stroke={bar.fill}
        strokeOpacity={1}
        strokeDasharray="3 3"
        data-unfinished
      />
    ) : (
      <Rectangle {...bar} />
    ),
};

/** As many pixels as `pixels` are at the usual font size of a browser: the charts know no other unit. */
export const atFontSize = (pixels: number) =>
  (pixels / 16) * parseFloat(getComputedStyle(document.documentElement).fontSize);

/** The size that base.css gives the texts of axes, by which the chart leaves out those that would overlap. */
export const axisFont = { fontSize: atFontSize(12) };

/** The axis of counts. */
export const countAxis = { allowDecimals: false, width: atFontSize(56) };

/** The axis of days or weeks: evenly spaced labels, of which the newest is one; the padding has room for half of it. */
export const dayAxis = {
  ...axisFont,
  minTickGap: 16,
  interval: 'equidistantPreserveEnd' as const,
  padding: { left: 20, right: 20 },
};
