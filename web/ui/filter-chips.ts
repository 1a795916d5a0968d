import { createStore } from './store.ts';

/** How often all filters of a list were replaced at once: their fields then lose text that has set nothing. */
export const replacements = createStore(0);
export const filtersReplaced = (): void => replacements.set(replacements.get() + 1);

/** A filter that is set: its parameter in the URL, and what it says. */
export type FilterChip<Name extends string = string> = { name: Name; label: string };

/**
 * The filters that are set, in the order given, and `none`: the parameters without any, also of filters that another one
 * hides. `labels` has each filter, with undefined for those that are not set.
 */
export function chipsOf<Name extends string>(labels: Record<Name, string | undefined>) {
  const names = Object.keys(labels) as Name[];
  const chips = names.flatMap((name): FilterChip<Name>[] => {
    const label = labels[name];
    return label ? [{ name, label }] : [];
  });
  const none = Object.fromEntries(names.map((name) => [name, undefined])) as Record<Name, undefined>;
  return { chips, none };
}
