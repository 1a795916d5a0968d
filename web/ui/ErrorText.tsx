import { Text } from '@mantine/core';

/** What went wrong, inside a dialog or form; line breaks of the message are kept. */
export function ErrorText({ children }: { children: string }) {
  return (
    <Text
      role="alert"
      c="var(--mantine-color-error)"
      style={{ whiteSpace: 'pre-line', overflowWrap: 'anywhere' }}
    >
      {children}
    </Text>
  );
}
