import type { Icon } from './icons.tsx';

/** The keys of actions. Others have a meaning in every list (j, k, x, m) or on every screen (c, g, /, ?). */
export type ActionKey =
  | 'Enter'
  | 'Space'
  | 'a'
  | 'b'
  | 'd'
  | 'e'
  | 'h'
  | 'l'
  | 'n'
  | 'o'
  | 'p'
  | 'r'
  | 's'
  | 't'
  | 'u'
  | 'v'
  | 'w'
  | 'y';

/** An action of a row: an item of its menu, and a key. */
export type RowAction = {
  label: string;
  key: ActionKey;
  /** What Enter does too, in a list whose rows have nothing else to open. */
  isMain?: boolean | undefined;
  /** Why it is disabled; null where it is not. */
  reason?: string | null | undefined;
  /** Takes something away: red and last. Asks in a dialog before it does anything. */
  danger?: boolean | undefined;
  /** Changes something without asking: its key works in the open menu only, so that a stray key changes nothing. */
  atOnce?: boolean | undefined;
  /** Also a button in the row itself, with the icon where there is one. */
  inRow?: boolean | undefined;
  icon?: Icon | undefined;
  busy?: boolean | undefined;
} & ({ run: () => void; href?: undefined } | { href: string; run?: undefined });

/** The actions of a row, with conditions in front of some. */
export type RowActionList = readonly (RowAction | false | null | undefined)[];

/** In the order of every list: dangerous actions last. */
export function inOrder(actions: RowActionList): RowAction[] {
  const given = actions.filter((one): one is RowAction => Boolean(one));
  return [...given.filter(({ danger }) => !danger), ...given.filter(({ danger }) => danger)];
}

/** Runs an action that is not disabled; `href` opens in a new tab, as a click on its link does. */
export function runAction({ run, href }: RowAction): void {
  if (run) run();
  else window.open(href, '_blank', 'noopener,noreferrer');
}

/** What a key chooses in the menu. Enter and Space press the item that has the focus, in every menu. */
export const menuAction = (
  actions: readonly RowAction[],
  { key, ctrlKey, metaKey, altKey }: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>,
): RowAction | undefined =>
  ctrlKey || metaKey || altKey ? undefined : actions.find((one) => one.key !== 'Enter' && one.key === key);

export type KeyHelp = { keys: readonly string[]; meaning: string };

/** The keys of these rows for the help: an action that not every row has is listed once, with all its names. */
export function keysOfActions(rows: Iterable<RowActionList>): KeyHelp[] {
  const named = new Map<string, { keys: string[]; labels: Set<string> }>();
  for (const actions of rows) {
    for (const { key, label, atOnce, isMain } of inOrder(actions)) {
      for (const keys of [...(isMain ? [['Enter']] : []), atOnce ? ['m', key] : [key]]) {
        const known = named.get(keys.join()) ?? { keys, labels: new Set() };
        named.set(keys.join(), { keys, labels: known.labels.add(label) });
      }
    }
  }
  return [...named.values()].map(({ keys, labels }) => ({ keys, meaning: [...labels].join(' / ') }));
}
