import type { Logger } from 'pino';
import type { Connections } from './connect.ts';

/** How long a question that takes a millisecond may stay open. */
const withinMs = 1500;

/** Whether calls get answers from the database now: validations on their connections, everyday calls on theirs. */
export async function doCallsGetAnswers({
  signals,
  pool,
  reserved,
  log,
}: Pick<Connections, 'signals' | 'pool' | 'reserved'> & { log: Logger }): Promise<boolean> {
  if (!signals.isUp() || pool.isStuck()) return false;
  // Where calls wait for a connection and get one, they prove it themselves.
  const asked = pool.waitingCount > 0 ? [reserved.pool] : [pool, reserved.pool];
  let timer: NodeJS.Timeout | undefined;
  try {
    await signals.untilDown(() =>
      Promise.race([
        Promise.all(asked.map((one) => one.query('select role_id from roles limit 1'))),
        new Promise((_, reject) => {
          timer = setTimeout(reject, withinMs, new Error(`No answer within ${withinMs} ms`));
        }),
      ]),
    );
    return true;
  } catch (error) {
    log.warn({ err: error }, 'The database does not answer as it must');
    return false;
  } finally {
    clearTimeout(timer);
  }
}
