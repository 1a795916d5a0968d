import type { SelectProps } from '@mantine/core';
import type { ComponentType } from 'react';
import { ClosedSelect, Late } from './Late.tsx';
import { lazyPart } from './lazy-part.ts';

const Select = lazyPart(async () => ({
  default: (await import('./floating.tsx')).Select as ComponentType<SelectProps>,
}));

/** A filter by one of a few values; empty, it shows everything. Its label is visible unless it is an `aria-label`. */
export function FilterSelect<Value extends string>(
  props: Pick<SelectProps, 'w' | 'label' | 'aria-label'> & {
    placeholder: string;
    choices: readonly { value: Value; label: string }[];
    value: Value | undefined;
    onChange: (value: Value | undefined) => void;
  },
) {
  const { choices, value, onChange, ...look } = props;
  const choiceOf = (wanted: string | null | undefined) => choices.find((choice) => choice.value === wanted);
  return (
    <Late look={<ClosedSelect {...look} value={choiceOf(value)?.label ?? ''} />}>
      <Select
        {...look}
        clearable
        allowDeselect={false}
        data={choices}
        value={value ?? null}
        onChange={(chosen) => onChange(choiceOf(chosen)?.value)}
      />
    </Late>
  );
}
