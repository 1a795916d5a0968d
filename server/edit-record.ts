import { isDeepStrictEqual } from 'node:util';
import type { AuditEvent, SubjectOf } from '../contract/audit-events.ts';
import type { Change } from './change.ts';
import { nextUpdatedAt } from './db/sql.ts';
import { fail, isFailure, wrongState, type Failure } from './failure.ts';

type Versioned = { updatedAt: string };

/** How `editRecord` locks and writes a kind of record. */
export type Editable<R extends Versioned, Columns> = {
  /** The name in the message of an edit conflict: "This license was changed by someone else …". */
  name: string;
  /** Reads the record and locks it until the transaction ends. */
  lock(change: Change, id: string): Promise<R | Failure>;
  /** The record as audit entries show it; by default whole. */
  audited?: (record: R) => object;
  /** Writes the columns, announces the change to other processes, and reads the record again. */
  write(change: Change, before: R, columns: Columns & { updated_at: Date }): Promise<R | Failure>;
};

type Sent<R> = { [K in keyof R]?: R[K] | undefined };

type Edit<R, Columns, E extends AuditEvent> = {
  /** Undefined for a change that leaves no entry. */
  event: E | ((before: R, after: R) => E | undefined);
  /** Why the state of the record forbids the change; null if it does not. */
  refuse?: (before: R) => string | null;
  /** Further checks, run after an edit conflict is ruled out. */
  check?: (before: R) => Failure | undefined | Promise<Failure | undefined>;
  /** The sent fields, by their names in the record; omitted if the change is not an edit of fields. */
  sent?: Sent<R> | ((before: R) => Sent<R>) | undefined;
  /** The version that the user loaded. */
  seen?: string | undefined;
  columns: Columns | ((before: R) => Columns);
  /** The record that the audit entry names; by default that after the change. */
  named?: (before: R, after: R) => R;
  /** The text of the audit entry; by default that of the event, or the changed fields. */
  what?: (before: R, after: R) => string | undefined;
};

/** Why a change that is no edit of fields is refused where the record is not the one that was shown. */
export const unseenRefusal = (name: string, { updatedAt }: Versioned, seen = updatedAt): string | null =>
  Date.parse(seen) === Date.parse(updatedAt)
    ? null
    : `This ${name} was changed since you saw it. Look at it again.`;

/** Locks the record and returns it if its state allows the change, else the Failure. */
export async function lockAllowed<R extends Versioned>(
  change: Change,
  { lock }: Pick<Editable<R, never>, 'lock'>,
  id: string,
  refuse: (before: R) => string | null = () => null,
): Promise<R | Failure> {
  const before = await lock(change, id);
  if (isFailure(before)) return before;
  return wrongState(refuse(before)) ?? before;
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
  { event, refuse, check, sent, seen, columns, named, what }: Edit<R, Columns, E>,
): Promise<R | Failure> {
  const before = await lockAllowed(change, kind, id, refuse);
  if (isFailure(before)) return before;
  const wanted = typeof sent === 'function' ? sent(before) : sent;
  const differing = wanted && differingFields(before, wanted);
  if (differing && seen !== undefined && Date.parse(seen) !== Date.parse(before.updatedAt))
    return editConflict(kind.name, differing, { current: before.updatedAt, yours: seen });
  const wrong = await check?.(before);
  if (wrong) return wrong;
  if (differing?.length === 0) return before;
  const set = typeof columns === 'function' ? (columns as (before: R) => Columns)(before) : columns;
  const updated_at = nextUpdatedAt(new Date(before.updatedAt), change.now);
  const after = await kind.write(change, before, { ...set, updated_at });
  if (isFailure(after)) return after;
  const happened = typeof event === 'function' ? event(before, after) : event;
  if (happened === undefined) return after;
  const { audited = (record: R) => record } = kind;
  const text = what?.(before, after);
  const shown = { before: audited(before), after: audited(after) };
  await change.audit(
    happened,
    named?.(before, after) ?? after,
    text === undefined ? shown : { ...shown, what: text },
  );
  return after;
}

/** The sent fields that differ from the stored ones. */
function differingFields(stored: object, sent: object): FieldConflict[] {
  const current = new Map<string, unknown>(Object.entries(stored));
  return Object.entries(sent)
    .filter(([field]) => field !== 'updatedAt')
    .filter(([field, value]) => value !== undefined && !isDeepStrictEqual(value, current.get(field)))
    .map(([field, value]) => ({ path: field, current: current.get(field), yours: value }));
}

type FieldConflict = { path: string; current: unknown; yours: unknown };

/**
 * The 409 of a lost update: each differing field with both values, and of a record with a version the stored one under
 * `updatedAt`.
 */
export const editConflict = (
  what: string,
  fields: FieldConflict[],
  version?: Omit<FieldConflict, 'path'>,
): Failure =>
  fail('EDIT_CONFLICT', `This ${what} was changed by someone else while you were editing it.`, {
    details: [
      ...fields.map(({ path, ...values }) => ({ path, message: 'Was changed by someone else', ...values })),
      ...(version ? [{ path: 'updatedAt', message: 'The stored version', ...version }] : []),
    ],
  });
