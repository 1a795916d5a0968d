import { TextInput } from '@mantine/core';
import { useDebouncedText } from './use-debounced-text.ts';

const typingDelay = 300;

/** A filter by a text as a whole, applied after typing pauses; empty, it shows everything. */
export function TextFilter(props: {
  label: string;
  placeholder: string;
  maxLength: number;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  const { value = '', onChange, ...look } = props;
  const { typed, type, leave } = useDebouncedText({
    value,
    onChange: (text) => onChange(text || undefined),
    delay: typingDelay,
  });
  return (
    <TextInput {...look} value={typed} onChange={(event) => type(event.currentTarget.value)} onBlur={leave} />
  );
}
