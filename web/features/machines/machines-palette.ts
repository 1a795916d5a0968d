import type { MachineStanding } from '../../../contract/machine-standing.ts';
import { machinePath, paths } from '../../paths.ts';
import { mostFound, type PaletteSource } from '../../shell/palette-sources.ts';
import { IconDeviceDesktop } from '../../ui/icons.tsx';
import { platformText } from '../../platform-text.ts';
import { findMachines } from './queries.ts';
import { reasonOf } from './state-labels.ts';

/** Machines in the command palette: found by words of host name, id and customer. */
const machinesPalette: PaletteSource = {
  group: 'Machines',
  icon: IconDeviceDesktop,
  resource: 'releases',
  list: (search) => ({ to: paths.machines, search: { search } }),
  find: async (text, signal) => {
    const { data } = await findMachines(text, mostFound, signal);
    return data.map((machine) => ({
      id: `machine ${machine.displayId}`,
      label: machine.hostname ?? machine.displayId,
      description: describe(machine),
      to: machinePath(machine.displayId),
    }));
  },
};
export default machinesPalette;

/** What tells it from others of the same name: its customer, id and version; and why it does not run. */
const describe = (machine: MachineStanding): string =>
  [
    machine.customer?.name,
    machine.hostname && machine.displayId,
    machine.version ?? platformText(machine.platform, machine.architecture),
    reasonOf(machine),
  ]
    .filter(Boolean)
    .join(' · ');
