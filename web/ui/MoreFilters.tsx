import { Button, Popover, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { IconAdjustmentsHorizontal } from './icons.tsx';

/** A button that opens the filters for which the row has no space. */
export function MoreFilters({ children }: { children: ReactNode }) {
  return (
    <Popover position="bottom-start" shadow="md" radius={8} trapFocus width={220}>
      <Popover.Target>
        <Button variant="default" px={8} aria-label="More filters" data-hint="More filters">
          <IconAdjustmentsHorizontal />
        </Button>
      </Popover.Target>
      <Popover.Dropdown p="sm" aria-label="More filters">
        <Stack gap="sm">{children}</Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
