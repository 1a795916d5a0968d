export type Choice = {
  value: string;
  label: string;
  disabled?: boolean;
  /** Without what the label adds to tell it from others of the same name. */
  name?: string;
};

const hasValue = ({ value }: Choice, text: string) => value.toLowerCase() === text;

/** Compares matches of a typed text: equal labels and values come first, then labels that begin with it. */
export function bestFirst(choices: Choice[], typed: string): Choice[] {
  const text = typed.trim().toLowerCase();
  const rank = (choice: Choice) => {
    const label = choice.label.toLowerCase();
    return label === text || hasValue(choice, text) ? 0 : label.startsWith(text) ? 1 : 2;
  };
  return choices.toSorted((a, b) => rank(a) - rank(b));
}

/**
 * The choices that contain a typed text, or have it as their value, such as the code of a country; the best match first. All
 * choices in their order if the text is empty.
 */
export function matching(choices: Choice[], typed: string): Choice[] {
  const text = typed.trim().toLowerCase();
  if (text === '') return choices;
  // The choice without a value means "none", which is not searched for.
  const found = choices.filter(
    (choice) => choice.value !== '' && (choice.label.toLowerCase().includes(text) || hasValue(choice, text)),
  );
  return bestFirst(found, typed);
}

/** Whether the best match shares its name with others, which the typed text does not tell apart. */
export function isOneOfSeveral([best, ...others]: Choice[], typed: string): boolean {
  const name = best?.name?.toLowerCase();
  if (name === undefined || best?.label.toLowerCase() === typed.trim().toLowerCase()) return false;
  return others.some((other) => other.name?.toLowerCase() === name);
}
