import { effectOf, type SearchEffects } from './search-params.ts';

type Route<Search> = {
  useSearch: () => Search;
  useNavigate: () => (to: { search: (before: Search) => Search; replace: boolean }) => Promise<void>;
};

export type ChangeSearch<Search> = (changes: Search, options?: { replace?: boolean }) => void;

/**
 * What the address of a screen holds, and how to change parts of it: another filter or order starts at the first page
 * again. `effects` as in `effectOf`; `replace`: Back leads past the change in any case.
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
