import classes from './edit-release.module.css';

/** Shows the result of saving inside the dialog. */
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
