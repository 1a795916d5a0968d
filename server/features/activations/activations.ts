import { sql, type Selectable } from 'kysely';
import { dayMs } from '../../../contract/durations.ts';
import {
  activationRefusal,
  utcMinute,
  type Activation,
  type activations as calls,
} from '../../../contract/activations.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import type { Change } from '../../change.ts';
import { checkClock, isJump, plausibleNow } from '../../checked-time.ts';
import type { Config } from '../../config.ts';
import type { Db } from '../../db/client.ts';
import type { Tables } from '../../db/tables.ts';
import { fail, noSuch, wrongState, type Failure } from '../../failure.ts';
import { lockLicenseRow, parseLicenseKey } from '../licenses/index.ts';
import { displayIdOf } from '../update-events/index.ts';

export type ActivationRow = Selectable<Tables['activations']>;

const notFound = noSuch('activation');

/**
 * The machines of a license, active ones first, how many seats they released on the UTC day of `now`, and the grace of
 * a new license file and of a valid answer.
 */
export async function listActivations(
  db: Db,
  now: Date,
  { selfReleasesPerSeat, validationGraceMs }: Pick<Config, 'selfReleasesPerSeat' | 'validationGraceMs'>,
  licenseKey: string,
): Promise<RouteAnswer<typeof calls.list> | Failure> {
  const license = await db
    .selectFrom('licenses')
    .select(['license_id', 'max_activations', selfReleasesOn(now)])
    .where('license_key', '=', parseLicenseKey(licenseKey) ?? '')
    .executeTakeFirst();
  if (!license) return fail('NOT_FOUND', 'There is no license with this key.');
  const rows = await db
    .selectFrom('activations as a')
    .leftJoin('machine_credentials as m', 'm.activation_id', 'a.activation_id')
    .selectAll('a')
    .select(['m.enrolled_at', 'm.cloned_at', 'm.own_hash'])
    .where('a.license_id', '=', license.license_id)
    .orderBy((eb) => eb('a.status', '=', 'active'), 'desc')
    .orderBy('a.created_at')
    .orderBy('a.activation_id')
    .execute();
  const atMost = license.max_activations * selfReleasesPerSeat;
  return {
    data: rows.map((row) => ({ ...toActivation(row), ...toIdentity(row) })),
    meta: {
      selfReleases: { today: license.self_releases_today, atMost },
      offlineGraceDays: Math.floor(validationGraceMs / dayMs),
      validationGraceMs,
    },
  };
}

const utcDayOf = (now: Date) => sql`(${now}::timestamptz at time zone 'UTC')::date`;

/**
 * The UTC day on which a seat released by its machine at `now` counts. That is the next one if another process, or a call
 * that this one waited for, has begun it: going back would set the count to zero.
 */
export const selfReleaseDay = (now: Date) =>
  sql<Date>`case when self_release_day = ${utcDayOf(now)} + 1 then self_release_day else ${utcDayOf(now)} end`;

/** Seats released by machines themselves on the UTC day of `now`: a column of `licenses`. */
export const selfReleasesOn = (now: Date) =>
  sql<number>`case when self_release_day = ${selfReleaseDay(now)} then self_releases else 0 end`.as(
    'self_releases_today',
  );

/**
 * Staff take the seat of a machine. `machineId` must match the activation: the list may be stale. WRONG_STATE if the
 * machine holds no seat, or may run offline and `force` is not set.
 */
export async function deactivateMachine(
  change: Change,
  activationId: string,
  { machineId, force = false }: { machineId: string; force?: boolean | undefined },
): Promise<Activation | Failure> {
  const { tx } = change;
  const found = await tx
    .selectFrom('activations')
    .select(['license_id', 'machine_id'])
    .where('activation_id', '=', activationId)
    .executeTakeFirst();
  if (!found || found.machine_id !== machineId) return notFound;
  // Locks the license first, like a validation; a different order would deadlock.
  await lockLicenseRow(tx, found.license_id);
  const row = await tx
    .selectFrom('activations')
    .selectAll()
    .where('activation_id', '=', activationId)
    .executeTakeFirst();
  if (!row) return notFound;
  const activation = toActivation(row);
  const offline = activationRefusal.deactivateOffline(activation, await plausibleNow(tx, change.now));
  const refusal = wrongState(activationRefusal.deactivate(activation) ?? (force ? null : offline));
  if (refusal) return refusal;
  if (!offline || !activation.offlineUntil) return leaveSeat(change, row, 'deactivated');
  return leaveSeat(change, row, 'deactivated', {
    what: `deactivated by force: its license file is valid until ${utcMinute(activation.offlineUntil)}`,
  });
}

/** What the end of a seat records beside its new status; `offlineUntil: null` if the machine has stopped running offline. */
type End = {
  event?: 'activation.offline_returned' | 'activation.offline_ended';
  what?: string;
  offlineUntil?: null;
};

/**
 * Ends the seat of an active machine, with the audit entry. Its token ends with it, and its license files no longer bind
 * it to their key. The caller must hold the lock on the license.
 */
export async function leaveSeat(
  change: Change,
  row: ActivationRow,
  status: 'deactivated' | 'released',
  { event, what, offlineUntil }: End = {},
): Promise<Activation> {
  const after = await change.tx
    .updateTable('activations')
    .set({ status, updated_at: change.now, offline_until: offlineUntil })
    .where('activation_id', '=', row.activation_id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await change.tx.deleteFrom('machine_credentials').where('activation_id', '=', row.activation_id).execute();
  await change.tx
    .updateTable('license_files')
    .set({ binds_key: false })
    .where('activation_id', '=', row.activation_id)
    .where('binds_key', '=', true)
    .execute();
  const { license_id: licenseId, license_key: licenseKey } = await change.tx
    .updateTable('licenses')
    .set((eb) => ({ current_activations: eb('current_activations', '-', 1) }))
    .where('license_id', '=', row.license_id)
    .returning(['license_id', 'license_key'])
    .executeTakeFirstOrThrow();
  const activation = toActivation(after);
  const before = { ...toActivation(row), licenseId };
  await change.audit(
    event ?? `activation.${status}`,
    { ...activation, licenseKey },
    { before, after: { ...activation, licenseId }, ...(what === undefined ? {} : { what }) },
  );
  return activation;
}

/** What the service knows of the identity of a machine; `row` may lack a credential. */
export const toIdentity = (row: {
  enrolled_at: Date | null;
  cloned_at: Date | null;
  own_hash: Buffer | null;
}) => ({
  enrolledAt: row.enrolled_at?.toISOString() ?? null,
  clonedAt: row.cloned_at?.toISOString() ?? null,
  ownRecord: row.own_hash && displayIdOf(row.own_hash.toString('hex')),
});

/**
 * Frees the seats of a license whose license files have ended, unless the clock cannot be trusted: a machine whose file
 * is still valid would run beside the next one. One that was last answered less than the grace of a valid answer before
 * needs its file no longer, and keeps its seat as an online one. Returns how many are free. The caller must hold the lock
 * on the license.
 */
export async function freeEndedSeats(
  change: Change,
  licenseId: string,
  { validationGraceMs }: Pick<Config, 'validationGraceMs'>,
): Promise<number> {
  const rows = await change.tx
    .selectFrom('activations')
    .selectAll()
    .where('license_id', '=', licenseId)
    .where('status', '=', 'active')
    .where('offline_until', '<=', change.now)
    .execute();
  if (rows.length === 0 || isJump(await checkClock(change.tx, change.now))) return 0;
  let freed = 0;
  for (const row of rows)
    if (wasOnlineAtEnd(row, validationGraceMs)) await keepOnline(change, row);
    else {
      await leaveSeat(change, row, 'released', { event: 'activation.offline_ended' });
      freed++;
    }
  return freed;
}

/** Compared with the end and not with now: the service may have been off since. A time after the end is of a wrong clock. */
function wasOnlineAtEnd({ answered_at, offline_until }: ActivationRow, graceMs: number): boolean {
  if (!answered_at || !offline_until || answered_at > offline_until) return false;
  return answered_at.getTime() > offline_until.getTime() - graceMs;
}

async function keepOnline({ tx, audit }: Change, row: ActivationRow): Promise<void> {
  const after = await tx
    .updateTable('activations')
    .set({ activation_type: 'automatic', offline_until: null })
    .where('activation_id', '=', row.activation_id)
    .returningAll()
    .executeTakeFirstOrThrow();
  const { license_id: licenseId, license_key: licenseKey } = await tx
    .selectFrom('licenses')
    .select(['license_id', 'license_key'])
    .where('license_id', '=', row.license_id)
    .executeTakeFirstOrThrow();
  const activation = toActivation(after);
  await audit(
    'activation.offline_ended',
    { ...activation, licenseKey },
    {
      what: 'its license file ended; it validates online, so it keeps its seat',
      before: { ...toActivation(row), licenseId },
      after: { ...activation, licenseId },
    },
  );
}

/** A row in the format of the contract. */
export function toActivation(row: ActivationRow): Activation {
  return {
    activationId: row.activation_id,
    machineId: row.machine_id,
    status: row.status,
    activationType: row.activation_type,
    hostname: row.hostname,
    platform: row.platform,
    architecture: row.architecture,
    osVersion: row.os_version,
    appVersion: row.app_version,
    lastCheckedAt: row.last_checked_at?.toISOString() ?? null,
    offlineUntil: row.offline_until?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
  };
}
