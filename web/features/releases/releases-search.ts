import { getRouteApi } from '@tanstack/react-router';
import { architectures, channels, platforms, rolloutAttentions } from '../../../contract/list-words.ts';
import { idParam, pageParam, recordParam, searchOf, textParam, wordParam } from '../../search-params.ts';
import { useSearch } from '../../use-search.ts';

/** Search parameters of the release list: tab, filters, page, and the open dialog. */
export const releasesSearch = searchOf((params) => ({
  tab: wordParam(params, 'tab', ['analytics']),
  search: textParam(params, 'search'),
  platform: wordParam(params, 'platform', platforms),
  channel: wordParam(params, 'channel', channels),
  architecture: wordParam(params, 'architecture', architectures),
  /** Only releases that need somebody for this reason. */
  attention: wordParam(params, 'attention', rolloutAttentions),
  /** Includes inactive releases. */
  inactive: wordParam(params, 'inactive', ['1']),
  /** Id of the saved view that is open. */
  view: idParam(params, 'view'),
  page: pageParam(params),
  dialog: wordParam(params, 'dialog', ['create', 'defaults']),
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
  due: wordParam(params, 'due', ['7']),
  page: pageParam(params),
}));
export type ReleaseTrashSearch = ReturnType<typeof releaseTrashSearch>;

/** The id that the browser generated for the upload. */
function uploadParam(params: Record<string, unknown>): string | undefined {
  const text = textParam(params, 'upload');
  return text && /^[\d-]{1,60}$/.test(text) ? text : undefined;
}
