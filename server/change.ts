import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
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
import { isDeadlock, isLockTimeout, writable, type Db, type Tx } from './db/client.ts';
import { notify, type Signals, type Topic } from './db/signals.ts';
import { createSlots } from './db/slots.ts';
import { isFailure, type Failure } from './failure.ts';

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
 * followed. It runs again when it lost a deadlock or met a lock, so it may do nothing but queries. What was announced is
 * dropped from this process's caches before the caller goes on: NOTIFY alone could arrive after the response, and the
 * next call would still see the old state.
 */
export async function runChange<T>(
  parts: ChangeParts,
  by: Caller,
  work: (change: Change) => Promise<T>,
): Promise<T> {
  let mustWait = false;
  for (let attempt = 1; ; attempt++) {
    try {
      return await (mustWait
        ? waitingForLocks.run(() => once(parts, by, lockWaitMs, work))
        : once(parts, by, firstTryMs, work));
    } catch (error) {
      if (error instanceof RolledBack) return error.failure as T;
      if (isLockTimeout(error) && !mustWait) mustWait = true;
      else if (!isDeadlock(error) || attempt === 3) throw error;
    }
  }
}

/** Runs a change that Lanyard makes by itself: jobs, recorders, commands. */
export const systemChange = <T>(parts: ChangeParts, now: Date, work: (change: Change) => Promise<T>) =>
  runChange(parts, systemCaller(now), work);

/** Long enough for whoever holds a lock in passing. */
const firstTryMs = 300;
const lockWaitMs = 3000;
/**
 * A transaction that met a lock lets go of its connection and waits for the lock on one of a few: however many want a
 * record that somebody holds, the others have connections.
 */
const waitingForLocks = createSlots(3, lockWaitMs);

/** Carries a Failure out of a transaction, so that it rolls back. */
class RolledBack extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

async function once<T>(
  { db, signals, writeEntry }: ChangeParts,
  by: Caller,
  lockMs: number,
  work: (change: Change) => Promise<T>,
): Promise<T> {
  const topics = new Set<Topic>();
  const followUps: (() => Promise<void>)[] = [];
  const result = await writable(db)
    .transaction()
    .execute(async (tx) => {
      await sql`select set_config('lock_timeout', ${String(lockMs)}, true)`.execute(tx);
      const value = await work({
        tx,
        by,
        now: by.now,
        async announce(topic) {
          topics.add(topic);
          await notify(tx, topic);
        },
        afterCommit: (followUp) => void followUps.push(followUp),
        audit: (event, record, ...[detail]) => writeEntry(tx, by, entryOf(event, record, detail)),
      });
      if (isFailure(value)) throw new RolledBack(value);
      return value;
    });
  for (const topic of topics) signals?.drop(topic);
  for (const followUp of followUps) await followUp();
  return result;
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
