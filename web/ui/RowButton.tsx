import type { ComponentProps } from 'react';
import classes from './RowButton.module.css';

type Props = ComponentProps<'button'> & { tone?: 'red' | 'gray'; icon?: boolean };

/**
 * A button in a row of a list, of a word or (`icon`) a sign. It is the bare element: fifty rows of the library's
 * buttons take longer to draw than all else in them.
 */
export function RowButton({ tone, icon, className, ...props }: Props) {
  const names = [classes.button, icon && classes.icon, className].filter(Boolean).join(' ');
  return <button type="button" {...props} className={names} data-tone={tone} />;
}
