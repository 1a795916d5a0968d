import { sql } from 'kysely';
import { reportedAs } from '../../../contract/versions.ts';
import { systemChange, type ChangeParts } from '../../change.ts';
import type { Context } from '../../context.ts';
import { tryEach } from '../../try-each.ts';

type Parts = ChangeParts & Pick<Context, 'clock' | 'log' | 'reports'>;

/**
 * Keeps which machines had a release when it was last withdrawn, once: with the column that asks for it. It reads those
 * that have it now, so that where the job comes later, those that moved on before are not among them; and none of a
 * release that is active again, which others may have got since. Nothing, while another process does so or somebody
 * changes the release.
 */
const keepAffected = (context: Parts, releaseId: string): Promise<void> =>
  systemChange({ ...context, db: context.reports }, context.clock(), async ({ tx }) => {
    const due = await tx
      .selectFrom('releases')
      .select(['version', 'platform', 'architecture', 'is_active', 'affected_due'])
      .where('release_id', '=', releaseId)
      .where('affected_due', 'is not', null)
      // reports of its machines hold FOR KEY SHARE all the time
      .forNoKeyUpdate()
      .skipLocked()
      .executeTakeFirst();
    if (!due) return;
    await tx.deleteFrom('withdrawn_machines').where('release_id', '=', releaseId).execute();
    await sql`
      insert into withdrawn_machines (release_id, machine_hash, withdrawn_at)
      select ${releaseId}::uuid, machine_hash, ${due.affected_due}::timestamptz from machines
       where last_version = any(${reportedAs(due.version)}::text[])
         and platform = ${due.platform} and architecture = ${due.architecture}
         and not ${due.is_active}::boolean
      on conflict do nothing`.execute(tx);
    await tx
      .updateTable('releases')
      .set({ affected_due: null })
      .where('release_id', '=', releaseId)
      .execute();
  });

const onError =
  ({ log }: Parts) =>
  (error: unknown, releaseId: string) =>
    log.error({ err: error, releaseId }, 'Which machines had the withdrawn release was not kept');

/** Keeps those after the commit of a withdrawal. A failure is left to the job. */
export const keepAffectedNow = (context: Parts, releaseId: string): Promise<void> =>
  keepAffected(context, releaseId).catch((error: unknown) => onError(context)(error, releaseId));

/** Keeps those of releases whose withdrawal could not, as in a process that was stopped after its commit. Returns for how many. */
export async function keepDueAffected(context: Parts): Promise<number> {
  const due = await context.db
    .selectFrom('releases')
    .select('release_id')
    .where('affected_due', 'is not', null)
    .execute();
  const ids = due.map(({ release_id }) => release_id);
  await tryEach(ids, (id) => keepAffected(context, id), onError(context));
  return ids.length;
}
