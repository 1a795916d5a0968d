import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { ValidationCode, ValidationRequest } from '../../../contract/validation.ts';
import { createBatchWriter, type BatchWriter } from '../../db/batch.ts';
import type { Db } from '../../db/client.ts';

/** One answered validation. `durationUs` is what deciding took, in microseconds. */
export type Answered = {
  at: Date;
  code: ValidationCode;
  durationUs: number;
  licenseId: string | null;
  customerId: string | null;
  activationId: string | null;
  apiKeyId: string | null;
  request: ValidationRequest;
};

export type Recorder = BatchWriter<Answered>;

/**
 * Records every validation, and when each machine was last seen, in batches behind the answers (design
 * section 5): an answer never waits for it, and a stop loses none older than a second.
 */
export function createRecorder(db: Db, log: Logger): Recorder {
  return createBatchWriter('Validations', log, (rows) =>
    db.transaction().execute(async (tx) => {
      // What is lost with a crash of the database machine itself is below the second that is promised.
      await sql`set local synchronous_commit = off`.execute(tx);
      await sql`
        insert into validations
          (occurred_at, code, duration_us, license_id, customer_id, machine_id, api_key_id, app_version)
        select * from unnest(
          ${rows.map((r) => r.at)}::timestamptz[], ${rows.map((r) => r.code)}::text[],
          ${rows.map((r) => r.durationUs)}::int[], ${rows.map((r) => r.licenseId)}::uuid[],
          ${rows.map((r) => r.customerId)}::uuid[], ${rows.map((r) => r.request.machineId)}::text[],
          ${rows.map((r) => r.apiKeyId)}::uuid[], ${rows.map((r) => r.request.appVersion ?? null)}::text[])`.execute(
        tx,
      );
      await refreshActivations(tx, latestPerActivation(rows));
    }),
  );
}

function latestPerActivation(rows: Answered[]): Answered[] {
  const latest = new Map<string, Answered>();
  for (const row of rows) if (row.activationId && row.code === 'VALID') latest.set(row.activationId, row);
  // One order for every process: two batches that touch the same machines never wait for each other in a ring.
  return [...latest.values()].toSorted((a, b) => (a.activationId! < b.activationId! ? -1 : 1));
}

async function refreshActivations(db: Db, rows: Answered[]): Promise<void> {
  if (rows.length === 0) return;
  const fact = (name: 'hostname' | 'platform' | 'architecture' | 'osVersion' | 'appVersion') =>
    rows.map((r) => r.request[name] ?? null);
  await sql`
    update activations a
       set last_checked_at = greatest(a.last_checked_at, seen.at),
           hostname = coalesce(seen.hostname, a.hostname),
           platform = coalesce(seen.platform, a.platform),
           architecture = coalesce(seen.architecture, a.architecture),
           os_version = coalesce(seen.os_version, a.os_version),
           app_version = coalesce(seen.app_version, a.app_version)
      from (select * from unnest(
              ${rows.map((r) => r.activationId)}::uuid[], ${rows.map((r) => r.at)}::timestamptz[],
              ${fact('hostname')}::text[], ${fact('platform')}::text[], ${fact('architecture')}::text[],
              ${fact('osVersion')}::text[], ${fact('appVersion')}::text[])
            as s (id, at, hostname, platform, architecture, os_version, app_version) order by id) seen
     where a.activation_id = seen.id`.execute(db);
}
