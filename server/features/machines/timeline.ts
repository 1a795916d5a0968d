import { sql } from 'kysely';
import type { machineStandings as calls } from '../../../contract/machine-standing.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import { mayRead, type Caller } from '../../caller.ts';
import type { Db } from '../../db/client.ts';
import { type Failure, isFailure } from '../../failure.ts';
import { foldTimeline, type Entry } from './fold-timeline.ts';
import { latestEvents } from './latest-events.ts';
import { findMachine } from './machine-row.ts';
import { attempts } from './standings.ts';

/** Entries of each kind that a page reads, before they are folded. */
const most = { events: 500, validations: 2000 };

/**
 * A page of what a machine did until `before`, the latest first, in runs; validations only for users who may read
 * licenses.
 */
export async function timelineOf(
  db: Db,
  by: Caller,
  id: string,
  { before }: { before?: string | undefined },
): Promise<RouteAnswer<typeof calls.timeline> | Failure> {
  const machine = await findMachine(db, id);
  if (isFailure(machine)) return machine;
  const until = before ? new Date(before) : new Date('9999-12-31');
  const [events, validations] = await Promise.all([
    eventsOf(db, machine.machine_hash, until),
    mayRead(by, 'licenses') ? validationsOf(db, machine.machine_hash, until) : [],
  ]);
  const cuts = [
    events.length < most.events ? undefined : events.at(-1),
    validations.length < most.validations ? undefined : validations.at(-1),
  ].flatMap((last) => (last ? [last.at.getTime()] : []));
  const all = [...events, ...validations].toSorted((a, b) => b.at.getTime() - a.at.getTime());
  if (cuts.length === 0) return { data: foldTimeline(all), meta: { next: null } };
  // what happened at the instant of the cut may continue on the next page, and all of it is shown there
  const cut = Math.max(...cuts);
  const page = all.filter(({ at }) => at.getTime() > cut);
  if (page.length > 0) return { data: foldTimeline(page), meta: { next: new Date(cut).toISOString() } };
  // one instant fills the page
  const data = foldTimeline(all.filter(({ at }) => at.getTime() === cut));
  return { data, meta: { next: new Date(cut - 1).toISOString() } };
}

async function eventsOf(db: Db, hash: Buffer, until: Date): Promise<Entry[]> {
  const rows = await latestEvents(db, hash).where('occurred_at', '<=', until).limit(most.events).execute();
  return rows.map((row) => ({
    id: row.event_id,
    at: row.occurred_at,
    kind: row.event_type,
    code: null,
    licenseId: null,
    licenseKey: null,
    fromVersion: row.from_version,
    toVersion: row.to_version,
    releaseId: row.known_release,
    success: row.success,
    error: row.error_message || row.error_code,
  }));
}

async function validationsOf(db: Db, hash: Buffer, until: Date): Promise<Entry[]> {
  const { rows } = await sql<Pick<Entry, 'id' | 'at' | 'code' | 'licenseId' | 'licenseKey'>>`
    select 'validation ' || v.validation_id as id, v.occurred_at as at, v.code, l.license_id as "licenseId",
           l.license_key as "licenseKey"
      from ${attempts(sql`${hash}`)} s
     cross join lateral (
       select validation_id, occurred_at, code from validations
        where license_id = s.license_id and machine_id = s.machine_id and occurred_at <= ${until}
        order by occurred_at desc limit ${most.validations}) v
      join licenses l on l.license_id = s.license_id
     order by v.occurred_at desc, v.validation_id desc limit ${most.validations}`.execute(db);
  return rows.map((row) => ({
    ...row,
    kind: 'validation',
    fromVersion: null,
    toVersion: null,
    releaseId: null,
    success: row.code === 'VALID',
    error: null,
  }));
}
