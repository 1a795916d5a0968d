import { createStore } from './store.ts';

/** How often all filters of a list were replaced at once: their fields then lose text that has set nothing. */
export const replacements = createStore(0);
export const filtersReplaced = (): void => replacements.set(replacements.get() + 1);

/** A filter that is set: its parameter in the URL, and what it says. */
export type FilterChip<Name extends string = string> = { name: Name; label: string };

/** The filters that are set, in the order given; `labels` has undefined for the others. */
export const chipsOf = <Name extends string>(labels: Record<Name, string | undefined>): FilterChip<Name>[] =>
  (Object.keys(labels) as Name[]).flatMap((name) => {
    const label = labels[name];
    return label ? [{ name, label }] : [];
  });

/** The parameters without a value. */
export const without = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, undefined])) as Record<Name, undefined>;
