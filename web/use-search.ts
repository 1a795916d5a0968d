import { effectOf, type SearchEffects } from './search-params.ts';

type Route<Search> = {
  useSearch: () => Search;
  useNavigate: () => (to: { search: (before: Search) => Search; replace: boolean }) => Promise<void>;
};

export type ChangeSearch<Search> = (changes: Search, options?: { replace?: boolean }) => void;

/**
 * The search parameters of a screen, and how to change some of them: another filter or order starts at the first page
 * again. `effects` as in `effectOf`; `replace`: always replaces the history entry.
 */
export function useSearch<Search extends Record<string, unknown>>(
  route: Route<Search>,
  effects: SearchEffects = {},
): { search: Search; change: ChangeSearch<Search> } {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change: ChangeSearch<Search> = (changes, { replace: always = false } = {}) => {
    const { staysOnPage, replace } = effectOf(search, changes, effects);
    void navigate({
      search: (before) => ({
        ...before,
        ...(staysOnPage ? {} : { page: undefined, after: undefined }),
        ...changes,
      }),
      replace: always || replace,
    });
  };
  return { search, change };
}
