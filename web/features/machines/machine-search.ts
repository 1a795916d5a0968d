import { oneOf, textParam } from '../../search-params.ts';

export const machineTabs = ['events', 'downloads', 'activations'] as const;
export type MachineTab = (typeof machineTabs)[number];

/** Search parameters of the screen of a machine. */
export type MachineSearch = { tab?: MachineTab | undefined };

export const machineSearch = (params: Record<string, unknown>): MachineSearch => ({
  tab: oneOf(machineTabs, textParam(params, 'tab')),
});
