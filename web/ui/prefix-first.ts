import type { ComboboxItem, OptionsFilter } from '@mantine/core';

/** Filter of a searchable select: what begins with the text comes before what merely contains it. */
export const prefixFirst: OptionsFilter = ({ options, search, limit }) => {
  const text = search.trim().toLowerCase();
  const found = (options as ComboboxItem[]).filter(({ label }) => label.toLowerCase().includes(text));
  const begins = (option: ComboboxItem) => option.label.toLowerCase().startsWith(text);
  return [...found.filter(begins), ...found.filter((option) => !begins(option))].slice(0, limit);
};
