import { getRouteApi } from '@tanstack/react-router';
import { idParam, oneOf, pageParam, textParam } from '../../search-params.ts';
import { useSearch } from '../../use-search.ts';

/** Search parameters of the release list: tab, filters, page, and the open dialog. */
export type ReleasesSearch = {
  tab?: 'analytics' | undefined;
  search?: string | undefined;
  platform?: string | undefined;
  channel?: string | undefined;
  architecture?: string | undefined;
  /** Only releases that need somebody for this reason. */
  attention?: string | undefined;
  /** Includes inactive releases. */
  inactive?: '1' | undefined;
  /** Id of the saved view that is open. */
  view?: string | undefined;
  page?: number | undefined;
  dialog?: 'create' | 'defaults' | undefined;
  /** Id of the upload that was started in this dialog: a reload shows it again. */
  upload?: string | undefined;
  /** Id of the release whose Edit dialog is open. */
  edit?: string | undefined;
};

export const releasesSearch = (params: Record<string, unknown>): ReleasesSearch => ({
  tab: params['tab'] === 'analytics' ? 'analytics' : undefined,
  search: textParam(params, 'search'),
  platform: textParam(params, 'platform'),
  channel: textParam(params, 'channel'),
  architecture: textParam(params, 'architecture'),
  attention: textParam(params, 'attention'),
  inactive: params['inactive'] === '1' ? '1' : undefined,
  view: idParam(params, 'view'),
  page: pageParam(params),
  dialog: oneOf(['create', 'defaults'] as const, textParam(params, 'dialog')),
  upload: uploadParam(params),
  edit: idParam(params, 'edit'),
});

/** What a saved view of the list holds. */
export const releaseView = {
  names: ['search', 'platform', 'channel', 'architecture', 'inactive', 'attention'],
  read: releasesSearch,
};

const route = getRouteApi('/signed-in/releases');
export const useReleasesSearch = () =>
  useSearch<ReleasesSearch>(route, {
    dialogs: ['dialog', 'upload', 'edit'],
    tabs: ['tab'],
  });

export type ReleaseTrashSearch = {
  search?: string | undefined;
  /** Only releases that are deleted within this number of days. */
  due?: '7' | undefined;
  page?: number | undefined;
};

export const releaseTrashSearch = (params: Record<string, unknown>): ReleaseTrashSearch => ({
  search: textParam(params, 'search'),
  due: textParam(params, 'due') === '7' ? '7' : undefined,
  page: pageParam(params),
});

/** The id that the browser generated for the upload. */
function uploadParam(params: Record<string, unknown>): string | undefined {
  const text = textParam(params, 'upload');
  return text && /^[\d-]{1,60}$/.test(text) ? text : undefined;
}
