import type { ReactNode } from 'react';
import { CopyButton } from './CopyButton.tsx';
import { RowButton } from './RowButton.tsx';

/**
 * A key, id or hash in monospace with a copy button. `shown` may be a shorter form of `value`; `children`: what shows it,
 * such as its link.
 */
export function CopyText({
  value,
  shown = value,
  what = 'value',
  children = shown,
}: {
  value: string;
  shown?: string;
  what?: string;
  children?: ReactNode;
}) {
  return (
    <span style={{ display: 'inline-flex', alignItems: 'center', gap: 4, maxWidth: '100%' }}>
      <span
        className="mono"
        style={{ minWidth: 0, overflowWrap: 'anywhere' }}
        title={shown === value ? undefined : value}
      >
        {children}
      </span>
      <CopyIcon value={value} name={`${what} ${shown}`} hint={`Copy ${what}`} />
    </span>
  );
}

/** Copies what is shown beside it. `name`: what, for screen readers. */
export function CopyIcon({ value, name, hint }: { value: string; name: string; hint: string }) {
  return (
    <CopyButton value={value}>
      {({ copied, copy, icon }) => (
        <RowButton
          icon
          tone="gray"
          data-hint={copied ? 'Copied!' : hint}
          aria-label={`Copy ${name}`}
          onClick={(event) => {
            event.stopPropagation();
            copy();
          }}
        >
          {icon}
        </RowButton>
      )}
    </CopyButton>
  );
}
