import { Anchor, Text } from '@mantine/core';

type Retry = () => unknown;

/** An error message in a dialog or form, with its line breaks. `onRetry`: asks again for what could not be loaded. */
export function ErrorText({ id, onRetry, children }: { id?: string; onRetry?: Retry; children: string }) {
  return (
    <Text
      id={id}
      role="alert"
      c="var(--mantine-color-error)"
      style={{ whiteSpace: 'pre-line', overflowWrap: 'anywhere' }}
    >
      {children}
      {onRetry && (/[.!?]$/.test(children) ? ' ' : '. ')}
      {onRetry && <TryAgain onRetry={onRetry} />}
    </Text>
  );
}

/** Beside what could not be loaded. */
export const TryAgain = ({ onRetry }: { onRetry: Retry }) => (
  <Anchor component="button" type="button" inherit underline="always" onClick={() => void onRetry()}>
    Try again
  </Anchor>
);
