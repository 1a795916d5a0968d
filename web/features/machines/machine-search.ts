import { searchOf, wordParam } from '../../search-params.ts';

export const machineTabs = ['events', 'downloads', 'activations'] as const;
export type MachineTab = (typeof machineTabs)[number];

/** Search parameters of the screen of a machine. */
export const machineSearch = searchOf((params) => ({ tab: wordParam(params, 'tab', machineTabs) }));
