import type { Selectable } from 'kysely';
import { systemChange, type Change, type ChangeParts } from '../../change.ts';
import type { Context } from '../../context.ts';
import type { Tx } from '../../db/client.ts';
import { locks, tryLock } from '../../db/locks.ts';
import type { Tables } from '../../db/tables.ts';
import { repeatEntry } from './write-entry.ts';
import { isOurs } from './links.ts';
import type { AuditKeys } from './keys.ts';
import { refusalWindowMs, windowOf } from './refusals.ts';

type Row = Selectable<Tables['audit_refusals']>;

/** Processes save their counts every second; a window is closed when all have. */
const graceMs = 10_000;

/**
 * Writes the number of repeated refusals for each window that has ended, one entry per subject and one for the others,
 * and deletes the window. Returns how many entries were written; undefined if another process is doing this.
 */
export function closeWindows(
  context: ChangeParts & Pick<Context, 'clock'>,
  keys: AuditKeys,
): Promise<number | undefined> {
  return systemChange(context, context.clock(), async (change) => {
    const { tx, now } = change;
    if (!(await tryLock(tx, locks.refusalWindows))) return undefined;
    const rows = await tx
      .deleteFrom('audit_refusals')
      .where('window_start', '<', windowOf(new Date(now.getTime() - graceMs)))
      .returningAll()
      .execute();
    const repeated = rows.filter((row) => row.times > row.entries);
    for (const row of repeated) await writeCount(change, keys, row);
    return repeated.length;
  });
}

async function writeCount({ tx, now, audit }: Change, keys: AuditKeys, row: Row): Promise<void> {
  const more = row.times - row.entries;
  const until = new Date(row.window_start.getTime() + refusalWindowMs);
  const span = `from ${row.window_start.toISOString().slice(11, 16)} to ${until.toISOString().slice(11, 16)} UTC`;
  const after = { more, from: row.window_start, until };
  const times = more === 1 ? 'once more' : `${more} more times`;
  const first = row.first_entry && (await entryOf(tx, row.first_entry));
  // The row could point to any entry, so repeat only an entry of ours that is counted.
  if (first && isOurs(keys, first) && (!first.success || first.event_type === 'session.code_required')) {
    const { mac: _, ...entry } = first;
    await repeatEntry(tx, keys, entry, now, {
      changes_summary: `${first.changes_summary}, ${times} ${span}`,
      after,
    });
    return;
  }
  await audit('refusal.counted', null, {
    what: `${more.toLocaleString('en')} ${more === 1 ? 'other' : 'others'} ${span} (${row.kind})`,
    after,
    error: 'Refused',
  });
}

const entryOf = (tx: Tx, id: string) =>
  tx.selectFrom('audit_entries').selectAll().where('audit_id', '=', id).executeTakeFirst();
