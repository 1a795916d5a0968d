import { Curve, Rectangle, type CurveProps, type RectangleProps } from 'recharts';

/** For `lineProps` of a chart that ends with today: the line from yesterday to today is dashed. */
export const dashedEnd = {
  shape: ({ points = [], ...line }: CurveProps) => (
    <>
      <Curve {...line} points={points.slice(0, -1)} />
      <Curve {...line} points={points.slice(-2)} strokeDasharray="3 4" data-unfinished />
    </>
  ),
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

/** The axis of days or weeks: evenly spaced labels, of which the newest is one; the padding has room for half of it. */
export const dayAxis = {
  minTickGap: 16,
  interval: 'equidistantPreserveEnd' as const,
  padding: { left: 20, right: 20 },
};
