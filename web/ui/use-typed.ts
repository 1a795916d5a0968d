import { useState } from 'react';

/**
 * Text of a field whose form has the parsed value, or the text itself if it is not valid. The typed text stays until blur,
 * which shows the parsed value. A value that is set from outside replaces the text immediately.
 */
export function useTyped<Value extends string | number>(props: {
  value: Value;
  /** Parses a text; returns the text if it is not valid. */
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
