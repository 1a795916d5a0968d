import { v7 as uuidv7 } from 'uuid';
import type { Caller } from '../../caller.ts';
import type { NewEntry, WriteEntry } from '../../change.ts';
import type { Tx } from '../../db/client.ts';
import { canonicalEntry, type EntryRow } from './entry.ts';
import { macOf, type AuditKeys } from './keys.ts';

/** Creates the function that writes audit entries, each signed with the current key. */
export const entryWriter =
  (keys: AuditKeys): WriteEntry =>
  async (tx, by, entry) => {
    const row = toRow(by, entry);
    await insertEntry(tx, keys.current.entry, row);
    return row.audit_id;
  };

/** Repeats the content of an entry at another time. */
export const repeatEntry = (
  tx: Tx,
  keys: AuditKeys,
  entry: EntryRow,
  now: Date,
  more: Pick<EntryRow, 'changes_summary' | 'after'>,
) =>
  insertEntry(tx, keys.current.entry, {
    ...entry,
    ...more,
    after: asStored(more.after as object),
    audit_id: uuidv7(),
    timestamp: now,
  });

const toRow = (by: Caller, entry: NewEntry): EntryRow => ({
  audit_id: uuidv7(),
  timestamp: by.now,
  ...who(by),
  event_type: entry.event,
  resource_type: entry.resourceType,
  resource_id: entry.resourceId,
  changes_summary: entry.summary,
  before: asStored(entry.before),
  after: asStored(entry.after),
  api_endpoint: by.endpoint || null,
  ip_address: by.ip || null,
  user_agent: by.userAgent || null,
  request_id: by.requestId || null,
  success: entry.error === undefined,
  error_message: entry.error ?? null,
});

async function insertEntry(tx: Tx, key: Buffer, entry: EntryRow): Promise<void> {
  // Normalizes values that the database would change, which would break the seal.
  const row = Object.fromEntries(
    Object.entries(entry).map(([column, value]) => [
      column,
      typeof value === 'string' ? value.toWellFormed() : value,
    ]),
  ) as EntryRow;
  const { numInsertedOrUpdatedRows: written } = await tx
    .insertInto('audit_entries')
    .values({
      ...row,
      before: row.before ? JSON.stringify(row.before) : null,
      after: row.after ? JSON.stringify(row.after) : null,
      mac: macOf(key, canonicalEntry(row)),
    })
    .executeTakeFirstOrThrow();
  // a trigger that was added to the table may drop it in silence
  if (written !== 1n) throw new Error('The database did not keep an audit entry');
}

/** A record as it will be read back: dates as text, without undefined. */
const asStored = (record: object | undefined): unknown =>
  record ? JSON.parse(JSON.stringify(record)) : null;

function who({ actor }: Caller) {
  if (actor.kind === 'staff') {
    return { user_id: actor.userId, user_email: actor.email, user_role: actor.roles.join(', ') };
  }
  if (actor.kind === 'apiKey')
    return { user_id: null, user_email: `API key ${actor.name}`, user_role: 'service_account' };
  // the entry itself names the machine
  return { user_id: null, user_email: actor.kind === 'nobody' ? null : actor.kind, user_role: null };
}
