import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';

/**
 * Text of a field whose value the URL holds: `onChange` is called once typing rests for `delay` milliseconds. A
 * new `value` that was not typed here (back button, cleared filter) replaces the text.
 */
export function useDebouncedText(props: { value: string; onChange: (text: string) => void; delay: number }) {
  const { value, onChange, delay } = props;
  const [typed, setTyped] = useState(value);
  const [seen, setSeen] = useState(value);
  const [settled, setSettled] = useState(value);
  const settle = useDebouncedCallback((text: string) => {
    setSettled(text);
    onChange(text);
  }, delay);

  // Only by a change of `value`: what was just typed takes a moment to get into the URL.
  if (value !== seen) {
    setSeen(value);
    setSettled(value);
    if (value !== settled) setTyped(value);
  }
  const type = (text: string) => {
    setTyped(text);
    settle(text);
  };
  return { typed, type };
}
