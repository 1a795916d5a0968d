import { CloseButton, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import classes from './SearchBox.module.css';

const usualSettleAfter = 120;

/**
 * Search field of a list. `value` is what the URL holds; `onChange` is called when typing settles. A new `value`
 * that was not typed here (back button, cleared filter) replaces the text.
 */
export function SearchBox(props: {
  value: string;
  onChange: (value: string) => void;
  placeholder: string;
  /** Milliseconds without typing until `onChange` is called. */
  settleAfter?: number;
}) {
  const { value, onChange, placeholder, settleAfter = usualSettleAfter } = props;
  const [typed, setTyped] = useState(value);
  const [settled, setSettled] = useState(value);
  const settle = useDebouncedCallback((text: string) => {
    setSettled(text);
    onChange(text);
  }, settleAfter);

  if (value !== settled) {
    setSettled(value);
    setTyped(value);
  }
  const change = (text: string) => {
    setTyped(text);
    settle(text);
  };
  return (
    <TextInput
      type="search"
      className={classes.box}
      placeholder={placeholder}
      aria-label={placeholder.replace(/\.+$/, '')}
      data-hotkey="/"
      maxLength={200}
      value={typed}
      onChange={(event) => change(event.currentTarget.value)}
      onKeyDown={(event) => event.key === 'Escape' && typed !== '' && change('')}
      leftSection={<IconSearch size={15} stroke={1.75} aria-hidden />}
      rightSection={typed && <CloseButton size="xs" aria-label="Clear search" onClick={() => change('')} />}
    />
  );
}
