import { Popover } from '@mantine/core';
import type { ReactElement, ReactNode } from 'react';

// What floats above a screen loads after it: with its libraries it is 44 kB that no first sight of a list needs.

export { Select, Tooltip } from '@mantine/core';

/** `button` opens a panel with `children`. */
export function ButtonPopover(props: {
  button: ReactElement;
  position: 'bottom-start' | 'bottom-end';
  width?: number;
  children: ReactNode;
}) {
  const { button, position, width, children } = props;
  return (
    <Popover position={position} shadow="md" radius={8} trapFocus {...(width && { width })}>
      <Popover.Target>{button}</Popover.Target>
      <Popover.Dropdown p="sm">{children}</Popover.Dropdown>
    </Popover>
  );
}
