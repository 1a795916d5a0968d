import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';

/**
 * Text of a field whose value is in the URL: `onChange` is called after `delay` milliseconds without typing, without
 * spaces around the text, which stay in the field, and as `read` returns it; at once with `leave`, as whoever leaves the field goes on with something
 * else, such as a link that leads to other filters. A new `value` that was not typed here (back button, cleared filter)
 * replaces the text.
 */
export function useDebouncedText(props: {
  value: string;
  onChange: (text: string) => void;
  delay: number;
  read?: ((text: string) => string) | undefined;
}) {
  const { value, onChange, delay, read = (text: string) => text } = props;
  const [typed, setTyped] = useState(value);
  const [seen, setSeen] = useState(value);
  const [settled, setSettled] = useState(value);
  const settle = useDebouncedCallback((entered: string) => {
    // replaced since, as by the back button: it would be searched without being in the field
    if (entered !== typed) return;
    const text = read(entered.trim());
    setSettled(text);
    onChange(text);
  }, delay);

  // Only when `value` changes: typed text gets into the URL later.
  if (value !== seen) {
    setSeen(value);
    setSettled(value);
    if (value !== settled) setTyped(value);
  }
  const type = (text: string) => {
    setTyped(text);
    settle(text);
  };
  return { typed, type, leave: () => settle.flush() };
}
