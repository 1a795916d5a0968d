import { CloseButton, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import classes from './SearchBox.module.css';
import { useSettledText } from './use-settled-text.ts';

const usualSettleAfter = 120;

/** Search field of a list. `value` is what the URL holds; `onChange` is called when typing settles. */
export function SearchBox(props: {
  value: string;
  onChange: (value: string) => void;
  placeholder: string;
  /** Milliseconds without typing until `onChange` is called. */
  settleAfter?: number;
}) {
  const { value, onChange, placeholder, settleAfter = usualSettleAfter } = props;
  const { typed, type } = useSettledText({ value, onSettle: onChange, settleAfter });
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
      onKeyDown={(event) => event.key === 'Escape' && typed !== '' && type('')}
      leftSection={<IconSearch size={15} stroke={1.75} aria-hidden />}
      rightSection={typed && <CloseButton size="xs" aria-label="Clear search" onClick={() => type('')} />}
    />
  );
}
