import { Popover } from '@mantine/core';
import { useRef, type KeyboardEvent, type ReactElement, type ReactNode } from 'react';

// What floats above a screen loads after it: with its libraries it is 44 kB that no first sight of a list needs.

export { Tooltip } from '@mantine/core';
export { Select } from './Select.tsx';

/** `button` opens a panel with `children`. */
export function ButtonPopover(props: {
  button: ReactElement;
  position: 'bottom-start' | 'bottom-end';
  width?: number;
  children: ReactNode;
}) {
  const { button, position, width, children } = props;
  const target = useRef<HTMLElement>(null);
  // the library would close it with an open list in it, and leave what was typed there to be chosen
  const closeOnEscape = ({ key, target: field }: KeyboardEvent) => {
    if (key !== 'Escape' || (field as Element).matches('[aria-expanded="true"]')) return;
    target.current?.focus();
    target.current?.click();
  };
  return (
    <Popover
      position={position}
      shadow="md"
      radius={8}
      trapFocus
      closeOnEscape={false}
      {...(width && { width })}
    >
      <Popover.Target ref={target}>{button}</Popover.Target>
      <Popover.Dropdown p="sm" onKeyDownCapture={closeOnEscape}>
        {children}
      </Popover.Dropdown>
    </Popover>
  );
}
