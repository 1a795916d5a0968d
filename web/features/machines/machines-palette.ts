import { IconDeviceDesktop } from '@tabler/icons-react';
import { paths } from '../../paths.ts';
import type { PaletteSource } from '../../shell/palette-sources.ts';
import { platformText } from '../releases/index.ts';
import { findMachines } from './queries.ts';

const found = 6;

/** Client machines in the command palette: found by host name, id or display id. */
export const machinesPalette: PaletteSource = {
  group: 'Machines',
  icon: IconDeviceDesktop,
  resource: 'releases',
  find: async (text, signal) => {
    const { data } = await findMachines(text, found, signal);
    return data.map(({ displayId, platform, architecture, lastVersion }) => ({
      id: `machine ${displayId}`,
      label: displayId,
      description: [platformText(platform, architecture), lastVersion].filter(Boolean).join(' · '),
      to: paths.machine.replace('$machineId', encodeURIComponent(displayId)),
    }));
  },
};
