import { PasswordInput } from '@mantine/core';

/** The password of the signed-in user: the server requires it unless they signed in a moment ago. */
export function OwnPassword({ onChange }: { onChange: (typed: string | undefined) => void }) {
  return (
    <PasswordInput
      label="Your Own Password"
      // inputs with a name count as edits of the dialog
      name="currentPassword"
      description="Needed when you signed in more than five minutes ago"
      autoComplete="current-password"
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
    />
  );
}
