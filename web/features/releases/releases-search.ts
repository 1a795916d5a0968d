import { getRouteApi } from '@tanstack/react-router';
import { idParam, oneOf, pageParam, recordParam, searchOf, textParam } from '../../search-params.ts';
import { useSearch } from '../../use-search.ts';

/** Search parameters of the release list: tab, filters, page, and the open dialog. */
export const releasesSearch = searchOf((params) => ({
  tab: oneOf(['analytics'], textParam(params, 'tab')),
  search: textParam(params, 'search'),
  platform: textParam(params, 'platform'),
  channel: textParam(params, 'channel'),
  architecture: textParam(params, 'architecture'),
  /** Only releases that need somebody for this reason. */
  attention: textParam(params, 'attention'),
  /** Includes inactive releases. */
  inactive: oneOf(['1'], textParam(params, 'inactive')),
  /** Id of the saved view that is open. */
  view: idParam(params, 'view'),
  page: pageParam(params),
  dialog: oneOf(['create', 'defaults'], textParam(params, 'dialog')),
  /** Id of the upload that was started in this dialog: a reload shows it again. */
  upload: uploadParam(params),
  /** Id of the release whose Edit dialog is open. */
  edit: recordParam(params, 'edit'),
}));
export type ReleasesSearch = ReturnType<typeof releasesSearch>;

const route = getRouteApi('/signed-in/releases');
export const useReleasesSearch = () =>
  useSearch<ReleasesSearch>(route, {
    dialogs: ['dialog', 'upload', 'edit'],
    tabs: ['tab'],
  });

export const releaseTrashSearch = searchOf((params) => ({
  search: textParam(params, 'search'),
  /** Only releases that are deleted within this number of days. */
  due: oneOf(['7'], textParam(params, 'due')),
  page: pageParam(params),
}));
export type ReleaseTrashSearch = ReturnType<typeof releaseTrashSearch>;

/** The id that the browser generated for the upload. */
function uploadParam(params: Record<string, unknown>): string | undefined {
  const text = textParam(params, 'upload');
  return text && /^[\d-]{1,60}$/.test(text) ? text : undefined;
}
