import { CopyButton } from './CopyButton.tsx';
import { RowButton } from './RowButton.tsx';

/** A key, id or hash in monospace with a copy button. `shown` may be a shorter form of `value`. */
export function CopyText({
  value,
  shown = value,
  what = 'value',
}: {
  value: string;
  shown?: string;
  what?: string;
}) {
  return (
    <span style={{ display: 'inline-flex', alignItems: 'center', gap: 4, maxWidth: '100%' }}>
      <span
        className="mono"
        style={{ minWidth: 0, overflowWrap: 'anywhere' }}
        title={shown === value ? undefined : value}
      >
        {shown}
      </span>
      <CopyButton value={value}>
        {({ copied, copy, icon }) => (
          <RowButton
            icon
            tone="gray"
            data-hint={copied ? 'Copied!' : `Copy ${what}`}
            aria-label={`Copy ${what} ${shown}`}
            onClick={(event) => {
              event.stopPropagation();
              copy();
            }}
          >
            {icon}
          </RowButton>
        )}
      </CopyButton>
    </span>
  );
}
