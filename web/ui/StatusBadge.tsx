import type { ReactNode } from 'react';
import classes from './StatusBadge.module.css';

export type Tone = 'teal' | 'amber' | 'orange' | 'red' | 'violet' | 'neutral';

export const toneColors = (tone: Tone) => ({
  background: `var(--ui-${tone}-bg)`,
  color: `var(--ui-${tone}-text)`,
});

/** A state as a word; the color has no additional meaning. */
export function StatusBadge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className={classes.badge} data-badge style={toneColors(tone)}>
      {children}
    </span>
  );
}

export const ActiveBadge = ({ status }: { status: 'active' | 'inactive' }) =>
  status === 'active' ? (
    <StatusBadge tone="teal">Active</StatusBadge>
  ) : (
    <StatusBadge tone="red">Inactive</StatusBadge>
  );
