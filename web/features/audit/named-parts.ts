import type { NamedRecord } from '../../../contract/audit.ts';

/** A text in parts, some of which are the names of records, each found once from left to right. */
export function namedParts(text: string, records: readonly NamedRecord[]): (string | NamedRecord)[] {
  const found = records
    .map((record) => ({ record, at: text.indexOf(record.name) }))
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
