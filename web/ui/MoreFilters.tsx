import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { IconAdjustmentsHorizontal } from './icons.tsx';
import { PopoverButton } from './Late.tsx';

/** A button that opens the filters for which the row has no space. */
export const MoreFilters = ({ children }: { children: ReactNode }) => (
  <PopoverButton
    label="More filters"
    icon={<IconAdjustmentsHorizontal />}
    position="bottom-start"
    width={220}
  >
    <Stack gap="sm">{children}</Stack>
  </PopoverButton>
);
