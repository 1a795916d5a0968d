import type pg from 'pg';
import { changeLockMs, type Limits } from './limits.ts';
import { statementName } from './prepared.ts';

/** How a change begins. Snapshots for reading state their isolation level. */
const begin = 'begin';

/** An insert with more parameters has many rows, and their number differs each time. */
const mostParameters = 40;
/** Without `returning *`: a column that the next version adds meanwhile would change what the kept statement returns. */
const insertsValues = /^insert into [^)]*\) values (?!.* returning \*$)/s;

/**
 * Clients for connections of our own: the lock timeout of a change goes with the message that begins it, and inserts of
 * values are named statements, since their plan does not depend on the values.
 */
export const unshared = (Client: typeof pg.Client): typeof pg.Client =>
  adapting(Client, (query, values) => {
    if (query === begin) return `${begin}; set local lock_timeout = ${changeLockMs}`;
    if (typeof query !== 'string' || !insertsValues.test(query)) return query;
    const isShort = Array.isArray(values) && values.length <= mostParameters;
    const name = isShort ? statementName(query) : undefined;
    return name === undefined ? query : { name, text: query };
  });

/**
 * Clients for a pooler that may assign a different server connection to each transaction, so that no session state
 * persists. Limits are set at the start of every transaction, and statements are unnamed. A statement outside of a
 * transaction is limited only by `silentMs`.
 */
export const sharing = (Client: typeof pg.Client, limits: Limits): typeof pg.Client =>
  adapting(Client, (query) => {
    if (typeof query === 'string')
      return /^(begin|start transaction)\b/i.test(query)
        ? `${query}; set local statement_timeout = ${limits.statementMs};
    set local lock_timeout = ${query === begin ? changeLockMs : limits.lockMs};
    set local idle_in_transaction_session_timeout = ${limits.idleMs}`
        : query;
    if (query === null || typeof query !== 'object' || 'submit' in query) return query;
    return { ...query, name: undefined };
  });

/** `adapt` gets what `query` is called with: a text or a config, and the values of its parameters. */
const adapting = (
  Client: typeof pg.Client,
  adapt: (query: unknown, values: unknown) => unknown,
): typeof pg.Client =>
  class extends Client {
    override query(...[query, ...rest]: unknown[]): never {
      return (super.query as (...all: unknown[]) => never)(adapt(query, rest[0]), ...rest);
    }
  };
