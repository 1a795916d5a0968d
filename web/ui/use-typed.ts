import { useState } from 'react';

/**
 * Text of a field whose form holds what the text says: a value, or the text itself while it says none. The text stays
 * as it is typed until the field is left; what was understood is shown then. A value that comes from elsewhere
 * replaces the text at once.
 */
export function useTyped<Value extends string | number>(props: {
  value: Value;
  /** The value that a text says, or the text. */
  read: (text: string) => Value;
  show: (value: Value) => string;
  onChange: (value: Value) => void;
}) {
  const { value, read, show, onChange } = props;
  const [typed, setTyped] = useState<string>();
  return {
    text: typed !== undefined && read(typed) === value ? typed : show(value),
    type: (text: string) => {
      setTyped(text);
      onChange(read(text));
    },
    isTyped: typed !== undefined,
    leave: () => setTyped(undefined),
  };
}
