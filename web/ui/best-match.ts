import { folded } from './folded.ts';

export type Choice = {
  value: string;
  label: string;
  disabled?: boolean;
  /** Without what the label adds to tell it from others of the same name. */
  name?: string;
  /** What it is found by beside its label, such as other names or an email. */
  also?: readonly string[];
};

/** As the service compares it, and as it is typed: `&` in a word, `_` of time zones as a space, and no full stops. */
const plain = (text: string) =>
  folded(text).replaceAll('&', 'and').replaceAll('’', "'").replaceAll('_', ' ').replaceAll('.', '');

/** In the order of the matches: a choice whose label does not have the text is the last. */
const ranks = { equal: 0, begins: 1, contains: 2, otherwise: 3 };

function rankOf({ label, value, also = [] }: Choice, text: string): number {
  const shown = plain(label);
  const others = also.map(plain);
  if ([shown, plain(value), ...others].includes(text)) return ranks.equal;
  if (shown.startsWith(text)) return ranks.begins;
  return !shown.includes(text) && others.some((other) => other.includes(text))
    ? ranks.otherwise
    : ranks.contains;
}

const searched = (typed: string) => plain(typed).trim();

/** Compares matches of a typed text: equal labels, values and other names come first, then labels that begin with it. */
export function bestFirst(choices: Choice[], typed: string): Choice[] {
  const text = searched(typed);
  const ranked = choices.map((choice) => ({ choice, rank: rankOf(choice, text) }));
  return ranked.toSorted((a, b) => a.rank - b.rank).map(({ choice }) => choice);
}

/**
 * The choices that contain a typed text, or have it as their value, such as the code of a country; the best match first. All
 * choices in their order if the text is empty.
 */
export function matching(choices: Choice[], typed: string): Choice[] {
  const text = searched(typed);
  if (text === '') return choices;
  // The choice without a value means "none", which is not searched for.
  const found = choices.filter(
    ({ value, label, also = [] }) =>
      value !== '' && (plain(value) === text || [label, ...also].some((one) => plain(one).includes(text))),
  );
  return bestFirst(found, typed);
}

/** Why the typed text chooses none of its matches, the best first; undefined if it chooses the best. */
export function whyUnclear([best, ...others]: Choice[], typed: string): string | undefined {
  const text = searched(typed);
  const isLabel = ({ label }: Choice) => plain(label) === text;
  if (!best || (isLabel(best) && !others.some(isLabel))) return undefined;
  const nameOf = ({ label, name = label }: Choice) => plain(name);
  if (others.some((other) => nameOf(other) === nameOf(best))) return 'Several have this name: choose one';
  const rank = rankOf(best, text);
  const isShared = rank === ranks.equal && others.some((other) => rankOf(other, text) === rank);
  // an accent alone is in every label
  const isNone = isShared || rank === ranks.otherwise || text === '';
  return isNone ? 'None has this name: choose one' : undefined;
}
