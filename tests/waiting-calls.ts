import { eventually, openClient, type TestServer } from './harness.ts';

type Holder = {
  /** For the `meanwhile` of `whileWaiting`: it sees the changes of the statement that took the lock. */
  query(statement: string, ...values: unknown[]): Promise<unknown>;
  /** Starts a call that waits for a lock which `take` takes, runs `meanwhile`, commits, and lets the call go on. */
  whileWaiting<T>(
    take: [statement: string, ...values: unknown[]],
    call: () => Promise<T>,
    meanwhile?: () => Promise<unknown>,
  ): Promise<T>;
};

/** A connection of its own to the database of a server, which holds locks that calls wait for. */
export async function openHolder({ database, pool }: TestServer): Promise<Holder> {
  const client = await openClient(database.url);
  const query: Holder['query'] = (statement, ...values) => client.query(statement, values);
  return {
    query,
    async whileWaiting(take, call, meanwhile) {
      await client.query('begin');
      await query(...take);
      const answer = call();
      await eventually(async () => {
        // A batch of records may wait for the same row.
        const { rowCount } = await pool.query(
          `select from pg_stat_activity s where datname = current_database() and wait_event_type = 'Lock'
             and not exists (select from pg_locks l where l.pid = s.pid and relation = 'update_event_ids'::regclass)`,
        );
        return rowCount !== 0;
      });
      await meanwhile?.();
      await client.query('commit');
      return answer;
    },
  };
}
