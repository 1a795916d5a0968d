import { useEffect, useRef, useState } from 'react';
import { effectOf, type SearchEffects } from './search-params.ts';

type Route<Search> = {
  useSearch: () => Search;
  useNavigate: () => (to: {
    search: (before: Search) => Search;
    replace: boolean;
    resetScroll: boolean;
  }) => Promise<void>;
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
  // each screen passes its own route, always the same
  // oxlint-disable-next-line react/hooks
  const search = route.useSearch();
  // oxlint-disable-next-line react/hooks
  const navigate = route.useNavigate();
  const shown = useShown(search);
  const [path] = useState(() => window.location.pathname);
  const change: ChangeSearch<Search> = (changes, { replace: always = false } = {}) => {
    // The user has chosen another screen, which is loading: a search that was typed before must not take its place.
    if (window.location.pathname !== path) return;
    const { staysOnPage, replace, closes, resetScroll } = effectOf(search, changes, effects);
    // A late answer closes the dialog that it was for, and neither another one nor a screen opened since.
    if (closes && shown.current !== search) return;
    void navigate({
      search: (before) => ({
        ...before,
        ...(staysOnPage ? {} : { page: undefined, after: undefined, shown: undefined }),
        ...changes,
      }),
      replace: always || replace,
      resetScroll,
    });
  };
  return { search, change };
}

/** What is on the screen now; undefined once the screen was left. */
function useShown<Value>(value: Value) {
  const shown = useRef<Value>(undefined);
  useEffect(() => {
    shown.current = value;
    return () => {
      shown.current = undefined;
    };
  }, [value]);
  return shown;
}
