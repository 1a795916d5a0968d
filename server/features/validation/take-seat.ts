import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { dayMs } from '../../../contract/durations.ts';
import type { ValidationCode, ValidationRequest } from '../../../contract/validation.ts';
import type { Change } from '../../change.ts';
import { plausibleNow } from '../../checked-time.ts';
import type { Config } from '../../config.ts';
import { freeEndedSeats, toActivation, type ActivationRow } from '../activations/index.ts';
import { lockLicenseRow } from '../licenses/index.ts';
import { decideOn } from './decide-validation.ts';

/**
 * Gives the machine a seat. Locks the license first and decides again under the lock, so that `maxActivations` holds
 * for concurrent calls, and a revocation always takes effect. Notes when a machine with a license file is answered.
 */
export async function takeSeat(
  change: Change,
  of: Owner,
  request: SeatRequest,
  config: Pick<Config, 'validationGraceMs'>,
): Promise<ValidationCode> {
  const { tx, by } = change;
  const { licenseId } = of;
  await lockLicenseRow(tx, licenseId);
  const license = await tx
    .selectFrom('licenses as l')
    .innerJoin('customers as c', 'c.customer_id', 'l.customer_id')
    .select(['l.status', 'l.valid_from', 'l.valid_until', 'l.max_activations', 'l.current_activations'])
    .select(['c.status as customer_status', 'c.deleted_at as customer_deleted_at'])
    .where('l.license_id', '=', licenseId)
    .executeTakeFirst();
  if (license) license.current_activations -= await freeEndedSeats(change, licenseId, config);
  const machine = await tx
    .selectFrom('activations')
    .selectAll()
    .where('license_id', '=', licenseId)
    .where('machine_id', '=', request.machineId)
    .executeTakeFirst();
  const { code, takesSeat } = decideOn(license, machine?.status, by);
  if (takesSeat) await seat(change, of, machine, request);
  if (code === 'VALID' && by.actor.kind !== 'staff') {
    // A seat that has ended, but by a clock that nobody trusts yet: it is still held, and so while this answer counts.
    const isHeld = license && machine?.offline_until && machine.offline_until <= by.now;
    const heldUntil = isHeld && new Date(Math.min(by.now.getTime() + dayMs, license.valid_until.getTime()));
    await tx
      .updateTable('activations')
      // a process whose clock is behind must not hide an answer of another
      .set({
        answered_at: sql`greatest(answered_at, ${by.now})`,
        ...(heldUntil && { offline_until: heldUntil }),
      })
      .where('license_id', '=', licenseId)
      .where('machine_id', '=', request.machineId)
      .where('offline_until', 'is not', null)
      .execute();
  }
  return code;
}

type Owner = { licenseId: string; licenseKey: string };
/** The machine that wants a seat, with what it says of itself. */
type SeatRequest = Omit<ValidationRequest, 'licenseKey' | 'nonce'>;

async function seat(
  { tx, by, audit }: Change,
  { licenseId, licenseKey }: Owner,
  before: ActivationRow | undefined,
  request: SeatRequest,
): Promise<void> {
  const type = by.actor.kind === 'staff' ? ('manual' as const) : ('automatic' as const);
  // A machine that was deactivated by force may still run by its license file.
  const until = before?.offline_until ?? null;
  const offlineUntil = until && until > (await plausibleNow(tx, by.now)) ? until : null;
  const values = {
    status: 'active' as const,
    activation_type: offlineUntil ? ('offline' as const) : type,
    offline_until: offlineUntil,
    updated_at: by.now,
  };
  const facts = {
    hostname: request.hostname ?? null,
    platform: request.platform ?? null,
    architecture: request.architecture ?? null,
    os_version: request.osVersion ?? null,
    app_version: request.appVersion ?? null,
  };
  const row = before
    ? await tx
        .updateTable('activations')
        .set(values)
        .where('activation_id', '=', before.activation_id)
        .returningAll()
        .executeTakeFirstOrThrow()
    : await tx
        .insertInto('activations')
        .values({
          activation_id: uuidv7(),
          license_id: licenseId,
          machine_id: request.machineId,
          ...values,
          ...facts,
          created_at: by.now,
          last_checked_at: by.actor.kind === 'staff' ? null : by.now,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
  await tx
    .updateTable('licenses')
    .set((eb) => ({ current_activations: eb('current_activations', '+', 1) }))
    .where('license_id', '=', licenseId)
    .execute();
  const activation = toActivation(row);
  await audit(
    before ? 'activation.reactivated' : 'activation.created',
    { ...activation, licenseKey },
    { before: before && { ...toActivation(before), licenseId }, after: { ...activation, licenseId } },
  );
}
