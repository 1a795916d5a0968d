import { TextInput, type TextInputProps } from '@mantine/core';
import { useRef, type KeyboardEvent } from 'react';
import { numberText, readNumber, type TypedNumber } from './typed-number.ts';
import { useTyped } from './use-typed.ts';

type Props = Omit<TextInputProps, 'value' | 'onChange' | 'type'> & {
  value?: TypedNumber;
  onChange: (value: TypedNumber) => void;
  /** Limits of the arrow keys. A typed number beyond them stays, and the form refuses it. */
  min: number;
  max: number;
  /** Shown after the number. */
  unit?: string;
  /** The value of the field on blur if its text has no digit; undefined: the text stays. */
  emptyIs?: number;
};

/**
 * A number field. It does not change the typed text before it loses the focus: text that is out of range or not a number
 * stays, and the form shows the error. The arrow keys count up and down. The first click leaves the whole text
 * selected, also where the focus came before it, so that typing replaces it.
 */
export function NumberField({ value = '', onChange, min, max, unit, emptyIs, ...input }: Props) {
  const field = useTyped({
    value,
    read: (text) => readNumber(text, unit),
    show: numberText,
    onChange,
  });
  const isClicked = useRef(false);
  const leave = () => {
    if (emptyIs !== undefined && field.isTyped && !/\p{N}/u.test(String(value))) onChange(emptyIs);
    // Beyond that, the displayed number would differ from the typed one.
    if (!(Math.abs(Number(value)) > Number.MAX_SAFE_INTEGER)) field.leave();
  };
  const step = (by: number) => {
    const from = typeof value === 'number' ? Math.round(value) + by : min;
    onChange(Math.min(max, Math.max(min, from)));
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    input.onKeyDown?.(event);
    if (event.key === 'Enter') leave();
    if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
    event.preventDefault();
    step(event.key === 'ArrowUp' ? 1 : -1);
  };
  return (
    <TextInput
      inputMode="decimal"
      autoComplete="off"
      rightSection={unit}
      rightSectionPointerEvents="none"
      {...input}
      value={field.text}
      onChange={(event) => field.type(event.currentTarget.value)}
      onKeyDown={onKeyDown}
      onMouseDown={(event) => {
        // the browser would put the caret where the click is
        if (!isClicked.current && isSelected(event.currentTarget)) event.preventDefault();
      }}
      onClick={() => {
        isClicked.current = true;
      }}
      onFocus={(event) => {
        isClicked.current = false;
        event.currentTarget.select();
        input.onFocus?.(event);
      }}
      onBlur={(event) => {
        leave();
        input.onBlur?.(event);
      }}
    />
  );
}

const isSelected = (input: HTMLInputElement) =>
  document.activeElement === input && input.selectionStart === 0 && input.selectionEnd === input.value.length;
