import { TextInput, type TextInputProps } from '@mantine/core';
import type { KeyboardEvent } from 'react';
import { numberText, readNumber, type TypedNumber } from './typed-number.ts';
import { useTyped } from './use-typed.ts';

type Props = Omit<TextInputProps, 'value' | 'onChange' | 'type'> & {
  value?: TypedNumber;
  onChange: (value: TypedNumber) => void;
  /** Where the arrow keys stop. What is typed beyond stays, for the form to refuse. */
  min: number;
  max: number;
  /** Shown behind the number. */
  unit?: string;
  /** What a field becomes whose text was typed and has no digit in it when it is left; otherwise it stays as it is. */
  emptyIs?: number;
};

/**
 * A number, typed. The field holds what was typed and changes nothing of it before it is left: what is out of range
 * or no number stays, and the form says what is wrong with it. The arrow keys count up and down.
 */
export function NumberField({ value = '', onChange, min, max, unit, emptyIs, ...input }: Props) {
  const field = useTyped({
    value,
    read: (text) => readNumber(text, unit),
    show: numberText,
    onChange,
  });
  const leave = () => {
    if (emptyIs !== undefined && field.isTyped && !/\d/.test(String(value))) onChange(emptyIs);
    // Beyond that, what is shown would be another number than what was typed.
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
      onFocus={(event) => {
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
