import type { ComponentProps } from 'react';
import classes from './RowButton.module.css';

/** `red`: removes something. `gray`: other icons. */
type Look = { tone?: 'red' | 'gray' | undefined; icon?: boolean };

/**
 * A button in a row of a list, with a text or an icon (`icon`). A plain element: Mantine's buttons take longer to render in
 * fifty rows than everything else in them.
 */
export function RowButton({ tone, icon, className, ...props }: ComponentProps<'button'> & Look) {
  return <button type="button" {...props} className={namesOf(icon, className)} data-tone={tone} />;
}

/** A link that looks like a `RowButton`. */
export function RowLink({ tone, icon, className, ...props }: ComponentProps<'a'> & Look) {
  return <a {...props} className={namesOf(icon, className)} data-tone={tone} />;
}

const namesOf = (icon: boolean | undefined, className: string | undefined): string =>
  [classes.button, icon && `${classes.icon} screen-only`, className].filter(Boolean).join(' ');
