import { Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './Tiles.module.css';

/** Summary figures of a screen, in a row of small cards. A value that is loading is a skeleton. */
export function Tiles({ label, tiles }: { label: string; tiles: Record<string, ReactNode | undefined> }) {
  return (
    <dl className={classes.tiles} aria-label={label}>
      {Object.entries(tiles).map(([name, value]) => (
        <div key={name} className={`panel ${classes.tile}`}>
          <dt>{name}</dt>
          <dd>{value ?? <Skeleton height={14} width="45%" my={6} radius={3} />}</dd>
        </div>
      ))}
    </dl>
  );
}
