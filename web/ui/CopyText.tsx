import { CopyButton } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { RowButton } from './RowButton.tsx';

/** How long 'Copied!' stays (spec part 2, section 9). */
const copiedFor = 2000;

/** A key, id or hash in monospace with a button that copies it. `shown` may be a shorter form of `value`. */
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
    <span style={{ display: 'inline-flex', alignItems: 'center', gap: 4, whiteSpace: 'nowrap' }}>
      <span className="mono" title={shown === value ? undefined : value}>
        {shown}
      </span>
      <CopyButton value={value} timeout={copiedFor}>
        {({ copied, copy }) => (
          <>
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
              {copied ? <IconCheck size={14} stroke={1.75} /> : <IconCopy size={14} stroke={1.75} />}
            </RowButton>
            <span role="status" className="visually-hidden">
              {copied && 'Copied!'}
            </span>
          </>
        )}
      </CopyButton>
    </span>
  );
}
