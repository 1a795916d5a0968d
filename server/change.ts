import { isDeepStrictEqual } from 'node:util';
import {
  auditEvents,
  auditOmitted,
  resourceOf,
  subjectOf,
  type AuditDetail,
  type AuditEvent,
  type SubjectOf,
} from '../contract/audit-events.ts';
import { systemCaller, type Caller } from './caller.ts';
import type { Db, Tx } from './db/client.ts';
import { afterCommit, announce, type Signals, type Topic } from './db/signals.ts';
import { transactOrFail } from './db/transaction.ts';

/** One unit of work: what a change writes, tells and leaves to do, in one transaction. */
export type Change = {
  /** The only handle that writes; reads take it wherever they take the database. */
  readonly tx: Tx;
  /** Who makes the change, and from where. */
  readonly by: Caller;
  readonly now: Date;
  /** Tells every process, on commit, that the topic changed; caches of this one drop before the caller goes on. */
  readonly announce: (topic: Topic) => Promise<void>;
  /**
   * Leaves work for after the commit, which runs in order before the caller goes on: for what cannot be taken back, such
   * as removing a file. The change stands by then, so errors are the business of `work` itself.
   */
  readonly afterCommit: (work: () => Promise<void>) => void;
  /** Writes an audit entry, which commits with the change or not at all. Returns the id of the entry. */
  readonly audit: <E extends AuditEvent>(
    event: E,
    record: SubjectOf<E>,
    ...detail: DetailOf<E>
  ) => Promise<string>;
};

/** An event that says nothing by itself needs a detail that does. */
type DetailOf<E extends AuditEvent> =
  object extends AuditDetail<E> ? [detail?: AuditDetail<E>] : [detail: AuditDetail<E>];

/** An audit entry as it is about to be written. */
export type NewEntry = {
  event: string;
  resourceType: string;
  resourceId: string | null;
  summary: string;
  /** The record as staff see it, before and after; never with a secret in it. */
  before?: object | undefined;
  after?: object | undefined;
  /** Why it did not happen, for refused calls and failed sign-ins. */
  error?: string | undefined;
};

/** Writes an entry under the key of the audit log; the feature `audit` makes one. Returns the id of the entry. */
export type WriteEntry = (tx: Tx, by: Caller, entry: NewEntry) => Promise<string>;

/** What changes are made from. */
export type ChangeParts = {
  db: Db;
  /** Left out by commands, which keep nothing that could be dropped. */
  signals?: Pick<Signals, 'drop'>;
  writeEntry: WriteEntry;
};

/**
 * Runs `work` as one change by that caller. A Failure that it returns rolls everything back, and nothing is announced or
 * followed. It runs again when it lost a deadlock or met a lock, so it may do nothing but queries.
 */
export function runChange<T>(
  parts: ChangeParts,
  by: Caller,
  work: (change: Change) => Promise<T>,
): Promise<T> {
  return transactOrFail(parts, (tx) => work(changeOn(parts, by, tx))) as Promise<T>;
}

/** Runs a change that Lanyard makes by itself: jobs, recorders, commands. */
export const systemChange = <T>(parts: ChangeParts, now: Date, work: (change: Change) => Promise<T>) =>
  runChange(parts, systemCaller(now), work);

function changeOn({ writeEntry }: ChangeParts, by: Caller, tx: Tx): Change {
  return {
    tx,
    by,
    now: by.now,
    announce: (topic) => announce(tx, topic),
    afterCommit: (work) => afterCommit(tx, work),
    audit: (event, record, ...[detail]) => writeEntry(tx, by, entryOf(event, record, detail)),
  };
}

const longestText = 1000;

function entryOf<E extends AuditEvent>(
  event: E,
  record: SubjectOf<E>,
  { what, before, after, error }: Partial<AuditDetail<E>> = {},
): NewEntry {
  const { id, name } = subjectOf(event, record);
  const [was, is] = [withoutSecrets(event, before), withoutSecrets(event, after)];
  const said = what ?? auditEvents[event] ?? changedFields(was ?? {}, is ?? {});
  return {
    event,
    resourceType: resourceOf(event),
    resourceId: id,
    summary: `${name}: ${said}`.slice(0, longestText),
    before: was,
    after: is,
    error,
  };
}

function withoutSecrets(event: AuditEvent, record: object | undefined): object | undefined {
  const secrets = auditOmitted[resourceOf(event)] ?? [];
  return record && Object.fromEntries(Object.entries(record).filter(([field]) => !secrets.includes(field)));
}

/** One line that says which fields changed and how: `name: A → B; phone: – → 12`. Empty when none did. */
export function changedFields(before: object, after: object): string {
  const was = new Map<string, unknown>(Object.entries(before));
  return Object.entries(after)
    .filter(([field, value]) => field !== 'updatedAt' && !isDeepStrictEqual(was.get(field), value))
    .map(([field, value]) => `${field}: ${shown(was.get(field))} → ${shown(value)}`)
    .join('; ');
}

function shown(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
