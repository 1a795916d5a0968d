import { sql } from 'kysely';
import type { AuditEvent } from '../contract/audit-events.ts';
import type { Release } from '../contract/releases.ts';
import type { Db } from '../server/db/client.ts';
import type { Tables } from '../server/db/tables.ts';
import { machineHashOf } from '../server/machine-hash.ts';

type Of = { db: Db };

/** The row of a release, in the recycle bin or not. */
export const releaseRow = ({ db }: Of, { id }: Pick<Release, 'id'>) =>
  db.selectFrom('releases').selectAll().where('release_id', '=', id).executeTakeFirstOrThrow();

/** The row of a machine; undefined until something of it is recorded. */
export const machineRow = ({ db }: Of, machineId: string) =>
  db
    .selectFrom('machines')
    .selectAll()
    .where('machine_hash', '=', Buffer.from(machineHashOf(machineId), 'hex'))
    .executeTakeFirst();

/** The audit entries of an event, the oldest first. */
export const entriesOf = ({ db }: Of, event: AuditEvent) =>
  db.selectFrom('audit_entries').selectAll().where('event_type', '=', event).orderBy('audit_id').execute();

/** The recorded validations of a machine, the oldest first. */
export const validationsOf = ({ db }: Of, machineId: string) =>
  db
    .selectFrom('validations')
    .selectAll()
    .where('machine_id', '=', machineId)
    .orderBy('validation_id')
    .execute();

/** All rows of a table but those of one record: what a change of that record leaves as it is. */
export async function othersIn<T extends keyof Tables>(
  { db }: Of,
  table: T,
  column: keyof Tables[T] & string,
  value: unknown,
): Promise<unknown[]> {
  const { rows } = await sql`
    select * from ${sql.table(table)} t where ${sql.ref(column)} <> ${value} order by t::text`.execute(db);
  return rows;
}
