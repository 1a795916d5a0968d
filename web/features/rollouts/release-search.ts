import { mostSkipped } from '../../../contract/most-skipped.ts';
import { machineGroups } from '../../../contract/list-words.ts';
import { pageParam, searchOf, textParam, wordParam } from '../../search-params.ts';

export const machinePages = { pageSize: 50, mostSkipped };

/** Search parameters of the page of a release: which of its machines are listed, and the open dialog. */
export const releaseSearch = searchOf((params) => ({
  group: wordParam(params, 'group', machineGroups),
  search: textParam(params, 'search'),
  page: pageParam(params, 'page', machinePages),
  dialog: wordParam(params, 'dialog', ['edit']),
}));
export type ReleaseSearch = ReturnType<typeof releaseSearch>;
