import { isObject } from '../../is-object.ts';

type Fields = Record<string, unknown>;

/** One field of a record, and its change. */
export type Difference = {
  /** `customer.name` for a nested field. */
  field: string;
  kind: 'added' | 'removed' | 'changed' | 'same';
  before: unknown;
  after: unknown;
};

/**
 * Both states of a record, field by field: changed fields first, each group in the order of the record. Fields of
 * nested records are listed separately; lists are compared as a whole.
 */
export function differences(before: Fields | null, after: Fields | null): Difference[] {
  const [old, now] = [flat(before), flat(after)];
  const fields = [...new Set([...now.keys(), ...old.keys()])];
  const all = fields.map((field) => ({
    field,
    kind: kindOf(old.has(field), now.has(field), old.get(field), now.get(field)),
    before: old.get(field),
    after: now.get(field),
  }));
  return all.toSorted((one, other) => placeOf(one) - placeOf(other));
}

/** `updatedAt` changes with every edit, so it is listed after the intended changes. */
const placeOf = ({ kind, field }: Difference): number =>
  kind === 'same' ? 2 : field === 'updatedAt' ? 1 : 0;

function kindOf(had: boolean, has: boolean, before: unknown, after: unknown): Difference['kind'] {
  if (!had) return 'added';
  if (!has) return 'removed';
  return isSame(before, after) ? 'same' : 'changed';
}

/** Values come from JSON: the order matters in lists, not in objects. */
function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isSame(item, b[index]));
  if (isObject(a) && isObject(b)) {
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => key in b && isSame(a[key], b[key]));
  }
  return a === b;
}

function flat(record: Fields | null, prefix = ''): Map<string, unknown> {
  const fields = new Map<string, unknown>();
  for (const [name, value] of Object.entries(record ?? {})) {
    if (isObject(value) && Object.keys(value).length > 0) {
      for (const [inner, innerValue] of flat(value, `${prefix}${name}.`)) fields.set(inner, innerValue);
    } else {
      fields.set(prefix + name, value);
    }
  }
  return fields;
}

/** A value as text for the user; `null` where there is none. */
export function valueText(value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null;
  if (Array.isArray(value))
    return value.length === 0 ? null : value.map((item) => valueText(item) ?? '–').join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
