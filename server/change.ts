import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import {
  auditEvents,
  auditOmitted,
  resourceOf,
  subjectOf,
  type AuditDetail,
  type AuditEvent,
  type AuditResource,
  type SubjectOf,
} from '../contract/audit-events.ts';
import { systemCaller, type Caller, type Consent } from './caller.ts';
import type { Config } from './config.ts';
import { isDeadlock, isLockTimeout, writable, type Db, type Tx } from './db/client.ts';
import { notify, type Signals, type Topic } from './db/signals.ts';
import { createSlots } from './db/slots.ts';
import { CarriedFailure, isFailure } from './failure.ts';
import { machineHashOf } from './machine-hash.ts';

/** A unit of work: the writes, notifications and follow-up work of one transaction. */
export type Change = {
  /** The only handle that can write; functions that read accept it in place of the database. */
  readonly tx: Tx;
  /** Who makes the change, and from where. */
  readonly by: Caller;
  readonly now: Date;
  /**
   * Notifies every process on commit, of `ids` where only these records changed; caches of this process are dropped before
   * the caller continues.
   */
  readonly announce: (topic: Topic, ids?: readonly string[]) => Promise<void>;
  /**
   * Registers work that runs in order after the commit, before the caller continues: for irreversible steps such as
   * deleting a file. The change is committed by then, so `work` must handle its own errors.
   */
  readonly afterCommit: (work: () => Promise<void>) => void;
  /**
   * Writes an audit entry, which commits or rolls back with the change. Returns the id of the entry. An entry about a
   * customer, license or activation announces the record, so that no process decides by what it kept of it.
   */
  readonly audit: <E extends AuditEvent>(
    event: E,
    record: SubjectOf<E>,
    ...detail: DetailOf<E>
  ) => Promise<string>;
  /** The same change, carried out with the consent of two people; their names are in its audit entries. */
  readonly withConsent: (consent: Consent) => Change;
};

/** Events without a text of their own require a detail. */
type DetailOf<E extends AuditEvent> =
  object extends AuditDetail<E> ? [detail?: AuditDetail<E>] : [detail: AuditDetail<E>];

/** An audit entry to be written. */
export type NewEntry = {
  event: string;
  resourceType: string;
  resourceId: string | null;
  summary: string;
  /** The record as staff see it, before and after; must not contain secrets. */
  before?: object | undefined;
  after?: object | undefined;
  /** The reason of a refused call or failed sign-in. */
  error?: string | undefined;
};

/** Writes a signed audit entry and returns its id; created by the feature `audit`. */
export type WriteEntry = (tx: Tx, by: Caller, entry: NewEntry) => Promise<string>;

/** The dependencies of `runChange`. */
export type ChangeParts = {
  db: Db;
  /** Omitted by commands, which have no caches. */
  signals?: Pick<Signals, 'drop' | 'tell'>;
  writeEntry: WriteEntry;
  /** Omitted by most commands, which wait for locks as long as by default. */
  config?: Pick<Config, 'databaseLimitFactor'>;
};

/**
 * Runs `work` as one change by the caller. A returned Failure rolls everything back and cancels announcements and
 * follow-up work. `work` is retried after a deadlock or a lock timeout, so it must contain only queries. Announced
 * topics are dropped from this process's caches before the caller continues: NOTIFY could arrive after the response,
 * and the next call would read stale data.
 */
export async function runChange<T>(
  parts: ChangeParts,
  by: Caller,
  work: (change: Change) => Promise<T>,
): Promise<T> {
  const waitMs = lockWaitMs * (parts.config?.databaseLimitFactor ?? 1);
  let mustWait = false;
  for (let attempt = 1; ; attempt++) {
    try {
      return await (mustWait
        ? waitingForLocks.run(() => once(parts, by, work, waitMs), waitMs)
        : once(parts, by, work));
    } catch (error) {
      if (error instanceof RolledBack) return error.failure as T;
      if (isLockTimeout(error) && !mustWait) mustWait = true;
      else if (!isDeadlock(error) || attempt === 3) throw error;
    }
  }
}

/** Runs a change made by Lanyard itself: jobs, recorders, commands. */
export const systemChange = <T>(parts: ChangeParts, now: Date, work: (change: Change) => Promise<T>) =>
  runChange(parts, systemCaller(now), work);

const lockWaitMs = 3000;
/**
 * A transaction that hits a lock releases its connection and waits on one of a few connections. Callers that contend
 * for one record thus cannot exhaust the pool.
 */
const waitingForLocks = createSlots(3, lockWaitMs);

/** Carries a Failure out of a transaction to roll it back. */
class RolledBack extends CarriedFailure {}

async function once<T>(
  { db, signals, writeEntry }: ChangeParts,
  by: Caller,
  work: (change: Change) => Promise<T>,
  lockMs?: number,
): Promise<T> {
  const announced = new Map<Topic, Set<string | undefined>>();
  const toldLater = new Set<string>();
  const followUps: (() => Promise<void>)[] = [];
  let isCommitting = false;
  const forget = (): void => {
    for (const [topic, ids] of announced) for (const id of ids) signals?.drop(topic, id);
    for (const id of toldLater) signals?.drop('records', id);
    signals?.tell('records', toldLater);
  };
  const result = await writable(db)
    .transaction()
    .execute(async (tx) => {
      if (lockMs) await sql`set local lock_timeout = ${sql.lit(lockMs)}`.execute(tx);
      const announce = async (topic: Topic, ids?: readonly string[]): Promise<void> => {
        const known = announced.get(topic) ?? new Set();
        announced.set(topic, known);
        for (const id of ids ?? [undefined]) known.add(id);
        await notify(tx, topic, ids);
      };
      const changeBy = (caller: Caller): Change => ({
        tx,
        by: caller,
        now: caller.now,
        announce,
        afterCommit: (followUp) => void followUps.push(followUp),
        async audit(event, record, ...[detail]) {
          const changed = changedRecords(event, record);
          if (signals && mayBeToldLater.has(event)) {
            for (const id of changed) toldLater.add(id);
            await notify(tx, 'records', changed, anyPolicy);
          } else if (changed.length > 0) await announce('records', changed);
          return writeEntry(tx, caller, withRequester(caller, entryOf(event, record, detail)));
        },
        withConsent: (consent) => changeBy({ ...caller, consent }),
      });
      const value = await work(changeBy(by));
      if (isFailure(value)) throw new RolledBack(value);
      isCommitting = true;
      return value;
    })
    .catch((error: unknown) => {
      // a commit whose response was lost may have happened
      if (isCommitting) forget();
      throw error;
    });
  forget();
  for (const followUp of followUps) await followUp();
  return result;
}

/** The ids by which facts depend on a record (server/db/facts.ts). A machine is named by its hash. */
const recordIds: Partial<Record<AuditResource, (record: never) => (string | null)[]>> = {
  customer: ({ customerId }: { customerId: string }) => [customerId],
  license: ({ licenseId }: { licenseId: string }) => [licenseId],
  activation: ({ activationId, machineId }: { activationId: string | null; machineId: string }) => [
    activationId,
    machineHashOf(machineId),
  ],
};

/**
 * Machines take seats by the thousand, and transactions that send NOTIFY commit one after the other. These events only
 * give: until other processes know of them, they refuse at most what the database then allows. But with a seat a machine
 * gets the update policy of its customer, which takes away: where there is one, they are told in the transaction.
 */
const mayBeToldLater: ReadonlySet<AuditEvent> = new Set([
  'activation.created',
  'activation.reactivated',
  'activation.enrolled',
] as const);

const anyPolicy = sql<boolean>`exists (select from update_policies)`;

function changedRecords<E extends AuditEvent>(event: E, record: SubjectOf<E>): string[] {
  // nothing depends on a new one; an export of all has no record
  if (event === 'customer.created' || event === 'license.created' || record === null) return [];
  const ids = recordIds[resourceOf(event)]?.(record as never) ?? [];
  return ids.filter((id) => id !== null);
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

/** The caller is the actor of the entry; the summary names the user who asked them to approve. */
function withRequester({ consent }: Caller, entry: NewEntry): NewEntry {
  if (!consent) return entry;
  const requested = ` (requested by ${consent.requestedBy})`;
  return { ...entry, summary: entry.summary.slice(0, longestText - requested.length) + requested };
}

function withoutSecrets(event: AuditEvent, record: object | undefined): object | undefined {
  const secrets = auditOmitted[resourceOf(event)] ?? [];
  return record && Object.fromEntries(Object.entries(record).filter(([field]) => !secrets.includes(field)));
}

/** One line that lists the changed fields: `name: A → B; phone: – → 12`. Empty if none changed. */
export function changedFields(before: object, after: object): string {
  const was = new Map<string, unknown>(Object.entries(before));
  return Object.entries(after)
    .filter(([field, value]) => field !== 'updatedAt' && !isDeepStrictEqual(was.get(field), value))
    .map(([field, value]) => `${field}: ${shown(was.get(field))} → ${shown(value)}`)
    .join('; ');
}

/** Lists and objects read as text: `(weekdays sat, sun; zone Europe/Berlin)`. */
function shown(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–';
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(shown).join(', ') || 'none';
  if (typeof value !== 'object') return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, part]) => `${name} ${shown(part)}`);
  return `(${fields.join('; ')})`;
}
