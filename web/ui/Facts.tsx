import type { ReactNode } from 'react';
import classes from './Facts.module.css';

/** The details of a record, by their names; those without a value are a dash. */
export function Facts({ facts }: { facts: Record<string, ReactNode> }) {
  return (
    <dl className={classes.facts}>
      {Object.entries(facts).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value || '—'}</dd>
        </div>
      ))}
    </dl>
  );
}
