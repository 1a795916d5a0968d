/* What the router writes into each entry of the history. */

const written = () => (window.history.state ?? {}) as Record<string, unknown>;

/** The place of the current entry. */
export const historyPlace = (): number => Number(written()['__TSR_index'] ?? 0);

/** Names the current entry, also once another has taken its place. */
export const historyKey = (): string => String(written()['__TSR_key']);
