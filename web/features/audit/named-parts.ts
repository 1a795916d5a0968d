import type { NamedRecord } from '../../../contract/audit.ts';

const inWord = /[\p{L}\p{N}]/u;

/** Where a text has a name that is not a part of a longer word; -1 if nowhere. */
function placeOf(name: string, text: string): number {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
    if (!inWord.test(text.charAt(at - 1)) && !inWord.test(text.charAt(at + name.length))) return at;
  return -1;
}

/** A text in parts, some of which are the names of records, each found once from left to right. */
export function namedParts(text: string, records: readonly NamedRecord[]): (string | NamedRecord)[] {
  const found = records
    .map((record) => ({ record, at: placeOf(record.name, text) }))
    .filter(({ at }) => at >= 0)
    // one name may begin with another
    .toSorted((a, b) => a.at - b.at || b.record.name.length - a.record.name.length);
  const [first] = found;
  if (!first) return text === '' ? [] : [text];
  const { record, at } = first;
  const others = records.filter((one) => one !== record);
  const rest = namedParts(text.slice(at + record.name.length), others);
  return at > 0 ? [text.slice(0, at), record, ...rest] : [record, ...rest];
}
