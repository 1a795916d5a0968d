import { getRouteApi } from '@tanstack/react-router';
import type { ReleasesSearch } from './releases-search.ts';

const route = getRouteApi('/signed-in/releases');
const dialogs = ['dialog', 'upload', 'edit'];

/** What the address of the list holds, and how to change parts of it. */
export function useReleasesSearch() {
  const search = route.useSearch();
  const navigate = route.useNavigate();

  /** Another filter starts at the first page again. */
  const change = (changes: ReleasesSearch) => {
    const ofDialog = dialogs.some((name) => name in changes);
    const staysOnPage = ofDialog || 'page' in changes || 'tab' in changes;
    const closesDialog = ofDialog && !changes.dialog && !changes.edit;
    void navigate({
      search: (before) => ({ ...before, ...(staysOnPage ? {} : { page: undefined }), ...changes }),
      // Typing leaves no trail in the history, and Back does not open again what was closed.
      replace: 'search' in changes || closesDialog,
    });
  };
  return { search, change };
}
