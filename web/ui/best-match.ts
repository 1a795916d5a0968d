export type Choice = { value: string; label: string; disabled?: boolean };

/** What matches a typed text best comes first: the text itself, then what begins with it. */
export function bestFirst(choices: Choice[], typed: string): Choice[] {
  const text = typed.trim().toLowerCase();
  const rank = ({ label }: Choice) =>
    label.toLowerCase() === text ? 0 : label.toLowerCase().startsWith(text) ? 1 : 2;
  return choices.toSorted((a, b) => rank(a) - rank(b));
}

/** The choices that contain a typed text, the best match first; all of them, in their order, while nothing is typed. */
export function matching(choices: Choice[], typed: string): Choice[] {
  const text = typed.trim().toLowerCase();
  if (text === '') return choices;
  // A choice without a value stands for none: nobody means it who types.
  const found = choices.filter(({ value, label }) => value !== '' && label.toLowerCase().includes(text));
  return bestFirst(found, typed);
}
