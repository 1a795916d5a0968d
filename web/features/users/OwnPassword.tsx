import { PasswordInput } from '@mantine/core';

/** The password of the person who asks: the server needs it unless they signed in a moment ago. */
export function OwnPassword({ onChange }: { onChange: (typed: string | undefined) => void }) {
  return (
    <PasswordInput
      label="Your Own Password"
      // by the name the dialog knows that something was typed
      name="currentPassword"
      description="Needed when you signed in more than five minutes ago"
      autoComplete="current-password"
      maxLength={1024}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
      visibilityToggleButtonProps={{ 'aria-label': 'Show password', tabIndex: 0 }}
    />
  );
}
