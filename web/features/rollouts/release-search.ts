import { mostSkipped } from '../../../contract/most-skipped.ts';
import { machineGroups } from '../../../contract/rollouts.ts';
import { oneOf, pageParam, searchOf, textParam } from '../../search-params.ts';

export const machinePages = { pageSize: 50, mostSkipped };

/** Search parameters of the page of a release: which of its machines are listed, and the open dialog. */
export const releaseSearch = searchOf((params) => ({
  group: oneOf(machineGroups, textParam(params, 'group')),
  search: textParam(params, 'search'),
  page: pageParam(params, 'page', machinePages),
  dialog: oneOf(['edit'], textParam(params, 'dialog')),
}));
export type ReleaseSearch = ReturnType<typeof releaseSearch>;
