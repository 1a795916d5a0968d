import { platformNames } from '../../../contract/builds.ts';
import type { MachineStanding } from '../../../contract/machine-standing.ts';
import { chipsOf } from '../../ui/filter-chips.ts';
import type { MachinesSearch } from './machines-search.ts';
import { seenLabels, stateLabels } from './state-labels.ts';

/** The filters that are set. The name of the customer comes from a row, without a request. */
export function machineChips(search: MachinesSearch, rows: readonly MachineStanding[] = []) {
  const { state, customer, platform, version, seen, unseen } = search;
  const name = rows.find((row) => row.customer?.customerId === customer)?.customer?.name;
  return chipsOf({
    state: state && `State: ${stateLabels[state].word}`,
    customer: customer && `Customer: ${name ?? 'the chosen one'}`,
    platform: platform && `Platform: ${platformNames[platform]}`,
    version: version && `Version: ${version}`,
    seen: seen && seenLabels.seen(seen),
    unseen: unseen && seenLabels.unseen(unseen),
  });
}
