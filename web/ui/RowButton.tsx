import type { ComponentProps, ReactNode } from 'react';
import classes from './RowButton.module.css';

/** `red`: what takes something away, whatever the list. `gray`: the other signs. */
type Look = { tone?: 'red' | 'gray' | undefined; icon?: boolean };

/**
 * A button in a row of a list, of a word or (`icon`) a sign. It is the bare element: fifty rows of the library's
 * buttons take longer to draw than all else in them.
 */
export function RowButton({ tone, icon, className, ...props }: ComponentProps<'button'> & Look) {
  return <button type="button" {...props} className={namesOf(icon, className)} data-tone={tone} />;
}

/** A link that looks like a `RowButton`. */
export function RowLink({ tone, icon, className, ...props }: ComponentProps<'a'> & Look) {
  return <a {...props} className={namesOf(icon, className)} data-tone={tone} />;
}

const namesOf = (icon: boolean | undefined, className: string | undefined): string =>
  [classes.button, icon && classes.icon, className].filter(Boolean).join(' ');

/** The buttons of a row. The first of their texts stands under the title of the column. */
export function RowActions({ children }: { children: ReactNode }) {
  return <div className={classes.actions}>{children}</div>;
}
