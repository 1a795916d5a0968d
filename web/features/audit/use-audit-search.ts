import { getRouteApi } from '@tanstack/react-router';
import { effectOf } from '../../search-params.ts';
import type { AuditSearch } from './audit-search.ts';

const route = getRouteApi('/signed-in/audit');
const names = { dialogs: ['entry'], typed: ['search', 'resourceId', 'from', 'to'] } as const;

/** What the address of the audit log holds, and how to change parts of it. */
export function useAuditSearch() {
  const search = route.useSearch();
  const navigate = route.useNavigate();

  /** Another filter or page size starts at the first page again. */
  const change = (changes: AuditSearch) => {
    const { staysOnPage, replace } = effectOf(search, changes, names);
    void navigate({
      search: (before) => ({
        ...before,
        ...(staysOnPage ? {} : { page: undefined, after: undefined }),
        ...changes,
      }),
      replace,
    });
  };
  return { search, change };
}

const filters = ['userId', 'resourceType', 'resourceId', 'eventType', 'status', 'from', 'to'] as const;

/** How many fields of the Filters panel are set. */
export const filtersSet = (search: AuditSearch) =>
  filters.filter((name) => search[name] !== undefined).length;

/** All of them cleared. */
export const noFilters: AuditSearch = Object.fromEntries(filters.map((name) => [name, undefined]));
