/** The parameters of a list that belong to a view: its filters and order, not its page or an open dialog. */
export type ViewParams = {
  names: readonly string[];
  /** The reader of the URL, which drops what is not valid, also a value that is none of the known ones. */
  read: (params: Record<string, unknown>) => Record<string, unknown>;
};

/** A query in one order, so that equal filters have equal queries. */
export function writeQuery(search: Record<string, unknown>, { names }: Pick<ViewParams, 'names'>): string {
  const given = names.filter((name) => search[name] !== undefined && search[name] !== '').toSorted();
  return new URLSearchParams(given.map((name) => [name, String(search[name])])).toString();
}

/** The parameters of a stored query that are still valid, and the names of those that are not. */
export function readQuery(query: string, { names, read }: ViewParams) {
  const params = Object.fromEntries(new URLSearchParams(query));
  const valid = read(params);
  const lost = Object.keys(params).filter((name) => !names.includes(name) || valid[name] === undefined);
  const kept = Object.keys(params).filter((name) => !lost.includes(name));
  const search = Object.fromEntries(kept.map((name) => [name, valid[name]]));
  return { search, lost };
}
