/** A record as a call returns it; `updatedAt`: its version. */
export type Versioned = Record<string, unknown> & { updatedAt: string };

export const isVersioned = (value: unknown): value is Versioned =>
  typeof value === 'object' && value !== null && 'updatedAt' in value && typeof value.updatedAt === 'string';

/** `data` of a query with `record` in place of its older versions; `data` itself where there are none. */
export function withRecord(data: unknown, record: Versioned): unknown {
  if (typeof data !== 'object' || data === null) return data;
  if (isOlder(data, record)) return { ...data, ...record };
  let next: Record<string, unknown> | undefined;
  for (const [name, part] of Object.entries(data)) {
    const after = withRecord(part, record);
    if (after === part) continue;
    next ??= (Array.isArray(data) ? [...data] : { ...data }) as Record<string, unknown>;
    next[name] = after;
  }
  return next ?? data;
}

/** The same id, and no field that `record` lacks: what a record has beside it, such as its policy, has its id too. */
function isOlder(data: object, record: Versioned): boolean {
  if (!isVersioned(data) || data.updatedAt >= record.updatedAt) return false;
  // its own comes first; those of others, such as its customer, change
  const id = Object.keys(record).find((name) => /(^i|I)d$/.test(name));
  return id !== undefined && data[id] === record[id] && Object.keys(data).every((name) => name in record);
}
