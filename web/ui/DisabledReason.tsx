import { cloneElement, type MouseEvent, type ReactElement } from 'react';

type ButtonLike = ReactElement<{
  onClick?: ((event: MouseEvent) => void) | undefined;
  title?: string;
  'aria-disabled'?: boolean;
  'data-disabled'?: boolean;
  'data-hint'?: string;
}>;

/**
 * Disables a button and says why. It stays in the tab order, so that keyboard and screen reader users get the reason.
 * Without a reason the button is unchanged.
 */
export function DisabledReason({ reason, children }: { reason: string | null; children: ButtonLike }) {
  if (!reason) return children;
  return cloneElement(children, {
    'aria-disabled': true,
    'data-disabled': true,
    'data-hint': reason,
    title: reason,
    onClick: (event) => event.preventDefault(),
  });
}
