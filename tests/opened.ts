/** Each closes something that a test opened and has not closed: a server, a database, a data directory. */
export const opened = new Set<() => Promise<unknown>>();

/** Closes all of it but what is in `kept`, the last one first. */
export async function closeOpened(kept: ReadonlySet<() => Promise<unknown>> = new Set()): Promise<void> {
  // a server that is closed also closes its database
  const failures: unknown[] = [];
  for (const close of [...opened].toReversed())
    if (!kept.has(close) && opened.delete(close))
      await close().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw new AggregateError(failures, 'What a test opened could not be closed.');
}
