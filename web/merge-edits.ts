import type { ErrorDetail } from '../contract/errors.ts';

type Fields = Readonly<Record<string, unknown>>;
type Difference = Pick<ErrorDetail, 'path' | 'current' | 'yours'>;

export type Merged<D extends Difference> = {
  /** Values to take over from the other edit, by field. */
  taken: Record<string, unknown>;
  /** The fields that both changed to different values: the user decides. */
  clashes: D[];
};

/** Lists whose entries are merged one by one: a form has a checkbox for each. */
const ofCheckboxes: ReadonlySet<string> = new Set(['moduleIds', 'permissions', 'scopes']);

/** Those of them that need an entry. */
const neverEmpty: ReadonlySet<string> = new Set(['scopes']);

/**
 * Merges two edits of one record that started from the same `base`. `differences` are the fields in which the stored
 * record and the request differ. A field that only one of the two changed keeps that change; a list of checkboxes is
 * merged entry by entry, so it clashes only where nothing would be left of one that needs an entry.
 */
export function mergeEdits<D extends Difference>(base: Fields, differences: readonly D[]): Merged<D> {
  const merged: Merged<D> = { taken: {}, clashes: [] };
  for (const difference of differences) {
    const { path, current, yours } = difference;
    const before = base[path];
    if (ofCheckboxes.has(path) && Array.isArray(current) && Array.isArray(yours)) {
      const list = mergeLists(Array.isArray(before) ? before : [], current, yours);
      if (list.length === 0 && neverEmpty.has(path)) merged.clashes.push(difference);
      else merged.taken[path] = list;
    } else if (isSame(yours, before)) {
      merged.taken[path] = current;
    } else if (!isSame(current, before) && !isSame(current, yours)) {
      merged.clashes.push(difference);
    }
  }
  return merged;
}

/** The stored list, with the entries that were added and removed here. */
function mergeLists(base: unknown[], theirs: unknown[], mine: unknown[]): unknown[] {
  const [before, kept] = [namesOf(base), namesOf(mine)];
  const stored = namesOf(theirs);
  return [
    ...theirs.filter((entry) => kept.has(nameOf(entry)) || !before.has(nameOf(entry))),
    ...mine.filter((entry) => !before.has(nameOf(entry)) && !stored.has(nameOf(entry))),
  ];
}

const namesOf = (entries: unknown[]) => new Set(entries.map(nameOf));

/** A form has no value where the record has null or empty text. */
export const isSame = (one: unknown, other: unknown): boolean => nameOf(one) === nameOf(other);

function nameOf(value: unknown): string {
  if (value === undefined || value === null || value === '') return '';
  if (typeof value !== 'object') return JSON.stringify(value);
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, part]) => `${name}:${nameOf(part)}`).join()}}`;
}
