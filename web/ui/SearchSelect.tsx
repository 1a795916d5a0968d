import type { SelectProps } from '@mantine/core';
import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { matching, whyUnclear, type Choice } from './best-match.ts';
import { folded } from './folded.ts';
import { Select } from './Select.tsx';

type Props = Omit<
  SelectProps,
  'data' | 'value' | 'onChange' | 'filter' | 'searchValue' | 'onSearchChange' | 'nothingFoundMessage'
> & {
  data: Choice[];
  value: string | null;
  onChange: (value: string | null, label: string) => void;
  /** Label of the chosen value, if `data` may not contain it. */
  chosenLabel?: string | undefined;
  /** Shown in the list, and below the field on blur, if nothing matches. */
  nothingFound: string;
  /** The entries of `data` that match a text, the best first. */
  match?: (choices: Choice[], typed: string) => Choice[];
  /** Called with the typed text; empty after a choice. */
  onSearch?: (typed: string) => void;
  /** Whether `data` does not match the typed text yet. */
  isSearching?: boolean;
  /** Offers to create what was typed, if no entry has this label. */
  onCreate?: ((typed: string) => void) | undefined;
};

/** Value of the entry that creates what was typed. */
const creates = '\0create';

/** Typed text without a choice yet, and the value that it replaces. */
type Typed = { text: string; over: string | null; isLeft: boolean };

/**
 * A searchable choice. Enter and blur choose the best match of the typed text, as soon as it is known. Text without a match,
 * with the name of several, or with that of none of those that are found, stays with an error, and nothing is chosen, which a
 * required field refuses.
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
  onCreate,
  ...input
}: Props) {
  const [state, setState] = useState<Typed>();
  const [opened, setOpened] = useState(false);
  const isPicking = useRef(false);
  // A value that is set from outside replaces the text.
  const typed = state?.over === value ? state : undefined;
  const text = typed?.text.trim() ?? '';
  const found =
    text === '' || isSearching ? [] : match(data, text).filter((choice) => choice.disabled !== true);
  const unclear = whyUnclear(found, text);
  const best = unclear === undefined ? found[0] : undefined;

  const offersCreate =
    onCreate !== undefined &&
    text !== '' &&
    !isSearching &&
    !data.some(({ label, name = label }) => folded(name) === folded(text));
  const offered = offersCreate ? [...data, { value: creates, label: `Create “${text}”` }] : data;

  const choose = (chosen: string | null, label: string) => {
    setState(undefined);
    onSearch?.('');
    if (chosen === creates) onCreate?.(text);
    else if (chosen !== value) onChange(chosen, label);
  };
  /** Only Enter creates: leaving the field must not open a dialog. */
  const settle = (byEnter = false) => {
    setOpened(false);
    if (!typed || typed.isLeft) return;
    if (best) return choose(best.value, best.label);
    if (byEnter && offersCreate && unclear === undefined) return choose(creates, '');
    if (text === '') return choose(null, '');
    setState({ ...typed, over: null, isLeft: true });
    if (value !== null) onChange(null, '');
  };
  useEffect(() => {
    // oxlint-disable-next-line react/set-state-in-effect -- the matches arrive later than the text
    if (typed?.isLeft && best) choose(best.value, best.label);
  });

  const onKeyDownCapture = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') isPicking.current = true;
    if (event.key === 'Escape' && opened) {
      setState(undefined);
      onSearch?.('');
    }
    if (event.key !== 'Enter' || (opened && isPicking.current)) return;
    // In an open list, or with text that has no choice yet, Enter chooses and does not submit the form.
    if (opened || (typed && !typed.isLeft)) event.preventDefault();
    // Mantine would choose the entry it highlighted last, even from an outdated list.
    event.stopPropagation();
    settle(true);
  };

  return (
    <Select
      maxDropdownHeight={260}
      // of what the service searches
      maxLength={200}
      // the focus may be moved here, such as by an error, which the list would cover
      openOnFocus={false}
      {...input}
      searchable
      selectFirstOptionOnChange
      allowDeselect={false}
      data={offered}
      filter={({ search }) => [...match(data, search), ...offered.slice(data.length)]}
      nothingFoundMessage={nothingFound}
      value={value}
      searchValue={typed?.text ?? data.find((one) => one.value === value)?.label ?? chosenLabel ?? ''}
      error={typed?.isLeft && !isSearching && !best ? (unclear ?? nothingFound) : input.error}
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
