import { Text } from '@mantine/core';

/** An error message in a dialog or form, with its line breaks. */
export function ErrorText({ id, children }: { id?: string; children: string }) {
  return (
    <Text
      id={id}
      role="alert"
      c="var(--mantine-color-error)"
      style={{ whiteSpace: 'pre-line', overflowWrap: 'anywhere' }}
    >
      {children}
    </Text>
  );
}
