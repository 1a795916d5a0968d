import { Select, type SelectProps } from '@mantine/core';
import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { matching, type Choice } from './best-match.ts';

type Props = Omit<
  SelectProps,
  'data' | 'value' | 'onChange' | 'filter' | 'searchValue' | 'onSearchChange' | 'nothingFoundMessage'
> & {
  data: Choice[];
  value: string | null;
  onChange: (value: string | null, label: string) => void;
  /** Name of the chosen one, where `data` may lack it. */
  chosenLabel?: string | undefined;
  /** Stands in the list, and below the field that is left, when nothing matches. */
  nothingFound: string;
  /** What of `data` matches a text, the best first. */
  match?: (choices: Choice[], typed: string) => Choice[];
  /** The text as it is typed; empty once something is chosen. */
  onSearch?: (typed: string) => void;
  /** Whether `data` is not yet what belongs to the typed text. */
  isSearching?: boolean;
};

/** Text that is not chosen from yet, and the value that it was typed over. */
type Typed = { text: string; over: string | null; isLeft: boolean };

/**
 * A choice, found by typing. Enter and leaving the field choose the best match of what was typed, as soon as it is
 * known. Text that matches nothing stays, with an error, and nothing is chosen, which a required field refuses.
 */
export function SearchSelect({
  data,
  value,
  onChange,
  chosenLabel,
  nothingFound,
  match = matching,
  onSearch,
  isSearching = false,
  ...input
}: Props) {
  const [state, setState] = useState<Typed>();
  const [opened, setOpened] = useState(false);
  const isPicking = useRef(false);
  // A value that comes from elsewhere replaces the text.
  const typed = state?.over === value ? state : undefined;
  const text = typed?.text.trim() ?? '';
  const best =
    text === '' || isSearching ? undefined : match(data, text).find((choice) => choice.disabled !== true);

  const choose = (chosen: string | null, label: string) => {
    setState(undefined);
    onSearch?.('');
    if (chosen !== value) onChange(chosen, label);
  };
  const settle = () => {
    setOpened(false);
    if (!typed || typed.isLeft) return;
    if (best) return choose(best.value, best.label);
    if (text === '') return choose(null, '');
    setState({ ...typed, over: null, isLeft: true });
    if (value !== null) onChange(null, '');
  };
  useEffect(() => {
    // oxlint-disable-next-line react/set-state-in-effect -- what was typed is answered only now
    if (typed?.isLeft && best) choose(best.value, best.label);
  });

  const onKeyDownCapture = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') isPicking.current = true;
    if (event.key === 'Escape' && opened) setState(undefined);
    if (event.key !== 'Enter' || (opened && isPicking.current)) return;
    // An open list is answered by Enter, and the form is not sent; nor is it with text that was not chosen from.
    if (opened || (typed && !typed.isLeft)) event.preventDefault();
    // The library would choose what it marked last, also from a list that is outdated.
    event.stopPropagation();
    settle();
  };

  return (
    <Select
      maxDropdownHeight={260}
      {...input}
      searchable
      selectFirstOptionOnChange
      allowDeselect={false}
      data={data}
      filter={({ options, search }) => match(options as Choice[], search)}
      nothingFoundMessage={nothingFound}
      value={value}
      searchValue={typed?.text ?? data.find((one) => one.value === value)?.label ?? chosenLabel ?? ''}
      error={typed?.isLeft && !isSearching && !best ? nothingFound : input.error}
      dropdownOpened={opened}
      onDropdownOpen={() => {
        isPicking.current = false;
        setOpened(true);
      }}
      onDropdownClose={() => setOpened(false)}
      onInput={(event) => {
        const { value: next } = event.currentTarget;
        isPicking.current = false;
        setState({ text: next, over: value, isLeft: false });
        onSearch?.(next);
      }}
      onChange={(chosen, option) => choose(chosen, option?.label ?? '')}
      onKeyDownCapture={onKeyDownCapture}
      onFocus={(event) => {
        event.currentTarget.select();
        input.onFocus?.(event);
      }}
      onBlur={(event) => {
        settle();
        input.onBlur?.(event);
      }}
    />
  );
}
