import { PasswordInput } from '@mantine/core';

/** The user's own password, read from the form when it is submitted. */
export function PasswordField(props: {
  label: string;
  name: string;
  autoComplete?: string;
  focused?: boolean;
}) {
  const { label, name, autoComplete = 'current-password', focused } = props;
  return (
    <PasswordInput
      label={label}
      name={name}
      autoComplete={autoComplete}
      maxLength={1024}
      data-autofocus={focused || undefined}
      visibilityToggleButtonProps={{ 'aria-label': 'Show password', tabIndex: 0 }}
    />
  );
}
