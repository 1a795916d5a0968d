import { isInRollout } from '../contract/rollout-bucket.ts';
import classes from './BucketStrip.module.css';
import { fixedText } from './ui/numbers.ts';

const markWidth = 2;
const walls = Array.from({ length: 11 }, (_, tenth) => `${tenth * 10}%`);

/**
 * The buckets of a rollout from 0 to 100 %, with a wall at each tenth: filled those that it includes, marked that of a
 * machine. An SVG, since paper and forced colors remove backgrounds.
 */
export function BucketStrip(props: { percentage: number; bucket?: number | null; paused?: boolean }) {
  const { percentage, bucket = null, paused } = props;
  const isInside = isInRollout(bucket, percentage);
  const place = bucket === null ? '' : `, bucket ${fixedText(bucket, 2)} ${isInside ? 'inside' : 'outside'}`;
  return (
    <svg
      className={classes.strip}
      role="img"
      aria-label={`Rollout ${percentage} %${place}${paused ? ', paused' : ''}`}
    >
      <rect
        className={classes.filled}
        data-paused={paused || undefined}
        y="5"
        width={`${percentage}%`}
        height="7"
      />
      <g className={classes.outline}>
        <line x2="100%" y1="12.5" y2="12.5" />
        {walls.map((x) => (
          <line key={x} x1={x} x2={x} y1="5" y2="13" />
        ))}
      </g>
      {bucket !== null && (
        <rect
          className={classes.mark}
          // up to its bucket inside and from it on outside: never across the edge of what is filled
          x={`${bucket}%`}
          transform={isInside ? `translate(-${markWidth})` : undefined}
          y="1"
          width={markWidth}
          height="14"
        />
      )}
    </svg>
  );
}
