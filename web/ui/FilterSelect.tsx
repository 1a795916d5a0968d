import { Select, type SelectProps } from '@mantine/core';

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
  return (
    <Select
      {...look}
      clearable
      data={choices}
      value={value ?? null}
      onChange={(chosen) => onChange(choices.find((choice) => choice.value === chosen)?.value)}
    />
  );
}
