import type pg from 'pg';
import type { Limits } from './limits.ts';

/**
 * Clients for a pooler that may assign a different server connection to each transaction, so that no session state
 * persists. Limits are set at the start of every transaction, and statements are unnamed. A statement outside of a
 * transaction is limited only by `answerMs`.
 */
export function sharing(Client: typeof pg.Client, limits: Limits): typeof pg.Client {
  const withLimits = `; set local statement_timeout = ${limits.statementMs};
    set local lock_timeout = ${limits.lockMs}; set local idle_in_transaction_session_timeout = ${limits.idleMs}`;

  function adapted(query: unknown): unknown {
    if (typeof query === 'string')
      return /^(begin|start transaction)\b/i.test(query) ? query + withLimits : query;
    if (query === null || typeof query !== 'object' || 'submit' in query) return query;
    return { ...query, name: undefined };
  }

  return class extends Client {
    override query(...[query, ...rest]: unknown[]): never {
      return (super.query as (...all: unknown[]) => never)(adapted(query), ...rest);
    }
  };
}
