import type { ChainState } from '../../../contract/audit.ts';
import classes from './audit.module.css';

/**
 * The sealed chain: closed links are verified, dotted ones are not, and a broken chain is torn before the link that is not
 * what was sealed. Decorative: the words beside it say the same.
 */
export function Chain({ state, height }: { state: ChainState['state'] | 'unknown'; height: number }) {
  const isWhole = state === 'whole';
  const isBroken = state === 'broken';
  const isSound = isWhole || isBroken;
  return (
    <svg className={classes.chain} viewBox={isBroken ? '0 0 68 14' : '0 0 58 14'} height={height} aria-hidden>
      <Link at={1} isClosed={isSound} />
      {isSound && <path d="M11 7h14" />}
      <Link at={21} isClosed={isSound} />
      {isWhole && <path d="M31 7h14" />}
      {isBroken && <path d="M31 7h7l3 -3M61 7h-13l-3 3" />}
      <Link at={isBroken ? 51 : 41} isClosed={isWhole} />
    </svg>
  );
}

const Link = ({ at, isClosed }: { at: number; isClosed: boolean }) => (
  <rect x={at} y="2" width="16" height="10" rx="5" strokeDasharray={isClosed ? undefined : '.5 3.6'} />
);
