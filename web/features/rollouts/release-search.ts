import { machineGroups, type MachineGroup } from '../../../contract/rollouts.ts';
import { oneOf, pageParam, textParam } from '../../search-params.ts';

/** Search parameters of the page of a release: which of its machines are listed. */
export type ReleaseSearch = {
  group?: MachineGroup | undefined;
  search?: string | undefined;
  page?: number | undefined;
};

export const releaseSearch = (params: Record<string, unknown>): ReleaseSearch => ({
  group: oneOf(machineGroups, textParam(params, 'group')),
  search: textParam(params, 'search'),
  page: pageParam(params),
});
