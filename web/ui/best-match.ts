export type Choice = { value: string; label: string; disabled?: boolean };

/** Compares matches of a typed text: equal labels come first, then those that begin with it. */
export function bestFirst(choices: Choice[], typed: string): Choice[] {
  const text = typed.trim().toLowerCase();
  const rank = ({ label }: Choice) =>
    label.toLowerCase() === text ? 0 : label.toLowerCase().startsWith(text) ? 1 : 2;
  return choices.toSorted((a, b) => rank(a) - rank(b));
}

/** The choices that contain a typed text, the best match first; all choices in their order if the text is empty. */
export function matching(choices: Choice[], typed: string): Choice[] {
  const text = typed.trim().toLowerCase();
  if (text === '') return choices;
  // The choice without a value means "none", which is not searched for.
  const found = choices.filter(({ value, label }) => value !== '' && label.toLowerCase().includes(text));
  return bestFirst(found, typed);
}
