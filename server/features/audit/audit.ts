import { isDeepStrictEqual } from 'node:util';
import { v7 as uuidv7 } from 'uuid';
import type { Caller } from '../../caller.ts';
import type { Db, Tx } from '../../db/client.ts';
import { canonicalEntry, type EntryRow } from './entry.ts';
import { entryKeyOf, macOf } from './keys.ts';

export { acceptGaps } from './accept.ts';
export { beganWith } from './begin.ts';
export { beginAnew } from './begin-anew.ts';
export { cleanUp } from './cleanup.ts';
export { headPlaces, readHeadJson, readKept } from './kept-heads.ts';
export type { SignedHead } from './chain.ts';
export { auditKeys, exchangeKeys, withAuditKey, type AuditKeys } from './keys.ts';
export { verifyChain } from './verify.ts';
export { closeWindows } from './refusal-windows.ts';
export { createRefusals, type Refusals } from './refusals.ts';
export { shortened } from './shortened.ts';
export { createChainWatch, type ChainWatch } from './watch.ts';

export type AuditEvent = {
  /** `license.revoked`: the thing, then what happened to it. */
  event: string;
  resourceType: string;
  resourceId: string | null;
  summary: string;
  /** The record as staff see it, before and after; never with a secret in it. */
  before?: object;
  after?: object;
  /** Why it did not happen, for refused calls and failed sign-ins. */
  error?: string;
};

/**
 * Writes an audit entry. Called with the transaction of the change that it tells of: neither
 * can commit without the other. Answers the id of the entry.
 */
export async function writeAudit(tx: Tx | Db, by: Caller, entry: AuditEvent): Promise<string> {
  const row: EntryRow = {
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
  };
  await insertEntry(tx, row);
  return row.audit_id;
}

/** Says again what an entry of ours said, at another time. */
export const repeatEntry = (
  tx: Tx,
  entry: EntryRow,
  now: Date,
  more: Pick<EntryRow, 'changes_summary' | 'after'>,
) =>
  insertEntry(tx, {
    ...entry,
    ...more,
    after: asStored(more.after as object),
    audit_id: uuidv7(),
    timestamp: now,
  });

async function insertEntry(tx: Tx | Db, entry: EntryRow): Promise<void> {
  // What cannot be stored as it is would be read back as something else, and break its own seal.
  const row = Object.fromEntries(
    Object.entries(entry).map(([column, value]) => [
      column,
      typeof value === 'string' ? value.toWellFormed() : value,
    ]),
  ) as EntryRow;
  const key = entryKeyOf(tx);
  await tx
    .insertInto('audit_entries')
    .values({
      ...row,
      before: row.before ? JSON.stringify(row.before) : null,
      after: row.after ? JSON.stringify(row.after) : null,
      mac: key ? macOf(key, canonicalEntry(row)) : null,
    })
    .execute();
}

/** A record as it will be read back: dates as text, undefined left out. */
const asStored = (record: object | undefined): unknown =>
  record ? JSON.parse(JSON.stringify(record)) : null;

function who({ actor }: Caller) {
  if (actor.kind === 'staff') {
    return { user_id: actor.userId, user_email: actor.email, user_role: actor.roles.join(', ') };
  }
  if (actor.kind === 'apiKey')
    return { user_id: null, user_email: `API key ${actor.name}`, user_role: 'service_account' };
  return { user_id: null, user_email: actor.kind === 'system' ? 'system' : null, user_role: null };
}

/** One line that says which fields changed and how: `name: A → B; phone: – → 12`. */
export function changeSummary(before: Record<string, unknown>, after: Record<string, unknown>): string {
  const changes = Object.keys(after)
    .filter((key) => key !== 'updatedAt' && !isDeepStrictEqual(before[key], after[key]))
    .map((key) => `${key}: ${shown(before[key])} → ${shown(after[key])}`);
  return changes.length > 0 ? changes.join('; ').slice(0, 1000) : 'No change';
}

function shown(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
