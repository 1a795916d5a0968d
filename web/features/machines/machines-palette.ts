import { paths } from '../../paths.ts';
import { queryClient } from '../../query-client.ts';
import type { PaletteSource } from '../../shell/palette-sources.ts';
import { platformText } from '../releases/releases.ts';
import { machineFindQuery } from './machines.ts';

const found = 6;

/** Client machines in the command palette: found by what the service knows them by. */
export const machinesPalette: PaletteSource = {
  group: 'Machines',
  resource: 'releases',
  find: async (text) => {
    const { data } = await queryClient.fetchQuery({ ...machineFindQuery(text, found), retry: false });
    return data.map(({ displayId, platform, architecture, lastVersion }) => ({
      id: `machine ${displayId}`,
      label: displayId,
      description: [platformText(platform, architecture), lastVersion].filter(Boolean).join(' · '),
      to: paths.machine.replace('$machineId', encodeURIComponent(displayId)),
    }));
  },
};
