import { CloseButton, TextInput } from '@mantine/core';
import classes from './SearchBox.module.css';
import { IconSearch } from './icons.tsx';
import { useDebouncedText } from './use-debounced-text.ts';

const usualDelay = 120;

/** Search field of a list. `value` is from the URL; `onChange` is debounced. */
export function SearchBox(props: {
  value: string;
  onChange: (value: string) => void;
  placeholder: string;
  /** Milliseconds without typing until `onChange` is called. */
  delay?: number;
  /** What is searched, of what is typed. */
  read?: (text: string) => string;
}) {
  const { value, onChange, placeholder, delay = usualDelay, read } = props;
  const { typed, type, leave } = useDebouncedText({ value, onChange, delay, read });
  return (
    <TextInput
      type="search"
      className={classes.box}
      placeholder={placeholder}
      aria-label={placeholder.replace(/\.+$/, '')}
      data-hotkey="/"
      maxLength={200}
      value={typed}
      onChange={(event) => type(event.currentTarget.value)}
      onBlur={leave}
      onKeyDown={(event) => event.key === 'Escape' && typed !== '' && type('')}
      leftSection={<IconSearch />}
      rightSection={typed && <CloseButton size="xs" aria-label="Clear search" onClick={() => type('')} />}
    />
  );
}
