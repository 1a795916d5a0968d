import { isDeepStrictEqual } from 'node:util';
import type { AuditDetail, AuditEvent, SubjectOf } from '../contract/audit-events.ts';
import type { Change } from './change.ts';
import { nextUpdatedAt } from './db/sql.ts';
import { editConflict } from './edit-conflict.ts';
import { fail, isFailure, type Failure } from './failure.ts';

type Versioned = { updatedAt: string };

/** How `editRecord` locks and writes a kind of record. */
export type Editable<R extends Versioned, Columns> = {
  /** The name in the message of an edit conflict: "This license was changed by someone else …". */
  name: string;
  /** Reads the record and locks it until the transaction ends. */
  lock(change: Change, id: string): Promise<R | Failure>;
  /** Writes the columns, announces the change to other processes, and reads the record again. */
  write(change: Change, before: R, columns: Columns & { updated_at: Date }): Promise<R | Failure>;
};

type Sent<R> = { [K in keyof R]?: R[K] | undefined };

type Edit<R, Columns, E extends AuditEvent> = {
  event: E | ((before: R) => E);
  /** Why the state of the record forbids the change; null if it does not. */
  refuse?: (before: R) => string | null;
  /** Further checks, run after an edit conflict is ruled out. */
  check?: (before: R) => Failure | undefined | Promise<Failure | undefined>;
  /** The sent fields, by their names in the record; omitted if the change is not an edit of fields. */
  sent?: Sent<R> | ((before: R) => Sent<R>) | undefined;
  /** The version that the user loaded. */
  seen?: string | undefined;
  columns: Columns | ((before: R) => Columns);
  /** What the audit entry shows instead of the record before and after. */
  detail?: (before: R, after: R) => AuditDetail<E>;
};

/** Locks the record and returns it if its state allows the change, else the Failure. */
export async function lockAllowed<R extends Versioned>(
  change: Change,
  { lock }: Pick<Editable<R, never>, 'lock'>,
  id: string,
  refuse: (before: R) => string | null = () => null,
): Promise<R | Failure> {
  const before = await lock(change, id);
  if (isFailure(before)) return before;
  const reason = refuse(before);
  return reason === null ? before : fail('WRONG_STATE', /[.!?]$/.test(reason) ? reason : `${reason}.`);
}

/**
 * Changes a record under its lock, with its audit entry, and returns the new record. Without a difference, the record
 * is unchanged and no entry is written. An EDIT_CONFLICT lists what differs from the version the user loaded.
 */
export async function editRecord<
  E extends AuditEvent,
  R extends Versioned & NonNullable<SubjectOf<E>>,
  Columns,
>(
  change: Change,
  kind: Editable<R, Columns>,
  id: string,
  { event, refuse, check, sent, seen, columns, detail }: Edit<R, Columns, E>,
): Promise<R | Failure> {
  const before = await lockAllowed(change, kind, id, refuse);
  if (isFailure(before)) return before;
  const wanted = typeof sent === 'function' ? sent(before) : sent;
  const conflict = wanted && editConflict(kind.name, before, wanted, seen);
  if (conflict) return conflict;
  const wrong = await check?.(before);
  if (wrong) return wrong;
  if (wanted && isSame(before, wanted)) return before;
  const set = typeof columns === 'function' ? (columns as (before: R) => Columns)(before) : columns;
  const updated_at = nextUpdatedAt(new Date(before.updatedAt), change.now);
  const after = await kind.write(change, before, { ...set, updated_at });
  if (isFailure(after)) return after;
  const happened = typeof event === 'function' ? event(before) : event;
  await change.audit(happened, after, detail?.(before, after) ?? { before, after });
  return after;
}

/** Whether a record already has all the sent values. */
const isSame = (stored: object, sent: object): boolean =>
  Object.entries(sent).every(
    ([field, value]) =>
      field === 'updatedAt' ||
      value === undefined ||
      isDeepStrictEqual(value, (stored as Record<string, unknown>)[field]),
  );
