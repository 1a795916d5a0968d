import classes from './edit-release.module.css';

/** How saving went, inside the dialog. */
export function Banner({ tone, children }: { tone: 'teal' | 'red'; children: string }) {
  return (
    <div
      role={tone === 'red' ? 'alert' : 'status'}
      className={classes.banner}
      style={{ background: `var(--ui-${tone}-bg)`, color: `var(--ui-${tone}-text)` }}
    >
      {children}
    </div>
  );
}
