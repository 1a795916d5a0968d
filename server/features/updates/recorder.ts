import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import { createBatchWriter, type BatchWriter } from '../../db/batch.ts';
import { isDatabaseUnreachable } from '../../db/client.ts';
import { pauseFailing } from './failure-guard.ts';
import type { Happening } from './happening.ts';
import { writeEvents } from './write-events.ts';

export type UpdateRecorder = BatchWriter<Happening>;

/**
 * Records what happens to updates, in batches behind the answers: a feed never waits for it, and a stop loses
 * nothing that was answered more than a second before. A rollout whose installs fail too often is paused here.
 */
export function createUpdateRecorder(
  context: Pick<Context, 'db' | 'signals' | 'clock' | 'log'>,
): UpdateRecorder {
  const { db, clock, log } = context;
  return createBatchWriter('Update events', log, async (rows) => {
    const failed = await db.transaction().execute(async (tx) => {
      // What is lost with a crash of the database machine itself is below the second that is promised.
      await sql`set local synchronous_commit = off`.execute(tx);
      return writeEvents(tx, rows, clock());
    });
    // The events are written: a failure from here on must not have them written again.
    await pauseFailing(context, failed).catch((error: unknown) => {
      if (!isDatabaseUnreachable(error)) log.error({ err: error }, 'Failing rollouts could not be checked');
    });
  });
}
