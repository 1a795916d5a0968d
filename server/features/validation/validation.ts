import { v7 as uuidv7 } from 'uuid';
import {
  validationMessages,
  type validation as calls,
  type ValidationCode,
  type ValidationRequest,
  type ValidationResult,
} from '../../../contract/validation.ts';
import type { SubjectOf } from '../../../contract/audit-events.ts';
import { dayMs } from '../../../contract/durations.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import type { Caller } from '../../caller.ts';
import { runChange, type Change, type ChangeParts } from '../../change.ts';
import { plausibleNow } from '../../checked-time.ts';
import type { Context } from '../../context.ts';
import { whyStrained } from '../../db/client.ts';
import { createKeyedSlots } from '../../db/slots.ts';
import {
  freeEndedSeats,
  leaveSeat,
  selfReleaseDay,
  selfReleasesOn,
  toActivation,
  type ActivationRow,
} from '../activations/index.ts';
import { signJson, type Signer } from '../../signer.ts';
import { entriesAbout } from '../audit/index.ts';
import type { createModuleNames } from '../modules/index.ts';
import { lockLicenseRow, parseLicenseKey } from '../licenses/index.ts';
import { utcDay, type Answered } from './day-counts.ts';
import { decideValidation, type Decision, type Facts, type LicenseFacts } from './decide-validation.ts';
import { hasSeat, type Found, type FoundSeat, type SeatFinder } from './find.ts';
import type { ValidationRecorder } from './validation-recorder.ts';

export type Validator = ChangeParts &
  Pick<Context, 'config'> & {
    seats: SeatFinder;
    /** Rotation replaces the signer. */
    keys: { signer: Signer };
    recorder: ValidationRecorder;
    moduleNames: ReturnType<typeof createModuleNames>;
  };

/**
 * Validates a license on a machine. Every decided outcome is returned signed, and recorded; the first valid call of a
 * machine takes a seat. A call from staff reactivates a deactivated machine, which is not recorded: the machine did not
 * make it. `token`: the machine proved itself.
 */
export async function validate(
  validator: Validator,
  by: Caller,
  request: ValidationRequest,
  token?: Answered['token'],
): Promise<ValidationResult> {
  const { config, seats, keys, recorder, moduleNames } = validator;
  const started = performance.now();
  const key = parseLicenseKey(request.licenseKey);
  let found = key === undefined ? undefined : await findFor(seats, { key, machineId: request.machineId }, by);
  const isReactivation = by.actor.kind === 'staff' && found !== undefined && hasLostSeat(found);
  let { code, takesSeat } = key === undefined ? malformed : decideOn(found, found?.activation_status, by);
  if (found && (takesSeat || isSeatEnded(found, by.now) || holdsLicenseFile(found))) {
    const { license_id: licenseId, license_key: licenseKey } = found;
    code = await onLicense(licenseId, () =>
      runChange(validator, by, (change) => takeSeat(change, { licenseId, licenseKey }, request)),
    );
    if (code === 'VALID') found = await seats.find({ key: licenseKey, machineId: request.machineId });
  }
  // recorded data may be kept in a file, so it excludes the key
  const { licenseKey: _, nonce: __, ...machine } = request;
  if (!isReactivation)
    recorder.add({
      at: by.now,
      code,
      durationUs: Math.round((performance.now() - started) * 1000),
      licenseId: found?.license_id ?? null,
      customerId: found?.customer_id ?? null,
      activationId: found?.activation_id ?? null,
      apiKeyId: by.actor.kind === 'apiKey' ? by.actor.apiKeyId : null,
      token,
      request: machine,
    });
  const heardAt = !isReactivation && code === 'VALID' ? by.now : (found?.last_checked_at ?? null);
  const answer = {
    valid: code === 'VALID',
    code,
    message: validationMessages[code],
    license: found ? describe(found, await moduleNames()) : null,
    activation: found && hasSeat(found) ? describeMachine(found, request.machineId, heardAt) : null,
    machineId: request.machineId,
    nonce: request.nonce ?? null,
    issuedAt: by.now.toISOString(),
    expiresAt: reliableUntil(code, found, by.now, config.validationGraceMs).toISOString(),
  };
  return { ...answer, ...signJson(keys.signer, answer) };
}

/**
 * The license and the seat of a machine: what the process keeps, if it makes the call valid now, else what the database
 * has. So nobody is refused by what is kept, and refusals show the latest facts.
 */
async function findFor(
  seats: SeatFinder,
  asked: Parameters<SeatFinder['find']>[0],
  by: Caller,
): Promise<Found | undefined> {
  const kept = seats.kept(asked);
  return kept && decideOn(kept, kept.activation_status, by).code === 'VALID' ? kept : seats.find(asked);
}

/**
 * The end of a valid license's grace period, at most the end of the license, and of a seat that ends by itself; a
 * refusal expires immediately.
 */
function reliableUntil(code: ValidationCode, found: Found | undefined, now: Date, graceMs: number): Date {
  if (code !== 'VALID' || !found) return now;
  const ends = [found.valid_until, found.offline_until ?? found.valid_until].map((end) => end.getTime());
  return new Date(Math.min(now.getTime() + graceMs, ...ends));
}

/** Whether the machine holds its seat no longer. */
const hasLostSeat = ({ activation_status: status }: Found): boolean => status !== null && status !== 'active';

/** Whether the license file of this machine has ended, or one that holds a seat of a full license. */
const isSeatEnded = ({ activation_status, offline_until, first_offline_end }: Found, now: Date): boolean =>
  [activation_status === 'active' ? offline_until : null, first_offline_end].some(
    (end) => end !== null && end <= now,
  );

/** Its receipt must not free the seat while this answer counts, so the two are ordered by the lock of the license. */
const holdsLicenseFile = ({ activation_status, offline_until }: Found): boolean =>
  activation_status === 'active' && offline_until !== null;

/**
 * Requests for a seat of the same license queue in memory, so that a thousand concurrent machines do not take all
 * connections. Where the license is locked by other work, all queued requests fail together.
 */
const onLicense = createKeyedSlots(2, 20_000, (error) => whyStrained(error) !== undefined);

const malformed: Decision = { code: 'MALFORMED_KEY', takesSeat: false };

/** The decision on the rows of a license, its owner and the machine's seat, for this caller, now. */
const decideOn = (
  license: LicenseFacts | undefined,
  status: Facts['seat'],
  { actor, now }: Caller,
): Decision => decideValidation({ license, seat: status, byStaff: actor.kind === 'staff', now });

/**
 * Gives the machine a seat. Locks the license first and decides again under the lock, so that `maxActivations` holds
 * for concurrent calls, and a revocation always takes effect. Notes when a machine with a license file is answered.
 */
export async function takeSeat(change: Change, of: Owner, request: SeatRequest): Promise<ValidationCode> {
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
  if (license) license.current_activations -= await freeEndedSeats(change, licenseId);
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
      .set({ answered_at: by.now, ...(heldUntil && { offline_until: heldUntil }) })
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

/**
 * Releases a machine's own seat; the machine may return later. No effect when it holds none. Limited to
 * `releasesPerSeat` per seat and UTC day: otherwise one seat would serve any number of machines in turn.
 */
export async function releaseSeat(
  change: Change,
  releasesPerSeat: number,
  { licenseKey, machineId }: { licenseKey: string; machineId: string },
): Promise<RouteAnswer<typeof calls.releaseSeat>> {
  const { tx, by } = change;
  const key = parseLicenseKey(licenseKey);
  const license = await tx
    .selectFrom('licenses')
    .select(['license_id', 'license_key', 'max_activations', selfReleasesOn(by.now)])
    .where('license_key', '=', key ?? '')
    .forUpdate()
    .executeTakeFirst();
  const row =
    license &&
    (await tx
      .selectFrom('activations as a')
      .leftJoin('machine_credentials as m', 'm.activation_id', 'a.activation_id')
      .selectAll('a')
      .select(({ eb }) => eb('m.activation_id', 'is not', null).as('is_enrolled'))
      .where('a.license_id', '=', license.license_id)
      .where('a.machine_id', '=', machineId)
      .where('a.status', '=', 'active')
      .executeTakeFirst());
  if (!row)
    return { released: false, code: 'NO_SEAT', message: 'This machine holds no seat on this license.' };
  if (row.offline_until && row.offline_until > (await plausibleNow(tx, by.now)))
    return {
      released: false,
      code: 'OFFLINE_SEAT',
      message: 'This machine holds a license file. Give it back in the program: its receipt frees the seat.',
    };
  // or whoever has unpacked the program could free the seat, and enroll with a key pair of their own
  if (row.is_enrolled && by.actor.kind === 'apiKey')
    return {
      released: false,
      code: 'ENROLLED_SEAT',
      message: 'This machine is enrolled, so only its own token frees its seat.',
    };
  if (by.actor.kind === 'apiKey' || by.actor.kind === 'machine') {
    const budget = license.max_activations * releasesPerSeat;
    if (license.self_releases_today >= budget)
      return tooManyReleases(change, { ...toActivation(row), licenseKey: license.license_key }, budget);
    await tx
      .updateTable('licenses')
      .set({ self_release_day: selfReleaseDay(by.now), self_releases: license.self_releases_today + 1 })
      .where('license_id', '=', license.license_id)
      .execute();
  }
  await leaveSeat(change, row, 'released');
  return { released: true, code: 'RELEASED', message: 'The seat is free again.' };
}

/** Told once a machine and UTC day: whoever has the API key could fill the audit log. */
async function tooManyReleases(
  change: Change,
  activation: SubjectOf<'activation.release_refused'> & { activationId: string },
  budget: number,
): Promise<RouteAnswer<typeof calls.releaseSeat>> {
  const message = `The daily limit of ${budget} released seats for this license is reached. Try again tomorrow, or ask the vendor to free the seat.`;
  const today = utcDay(change.now) * dayMs;
  const isTold = await entriesAbout(change.tx, 'activation', activation.activationId)
    .select('audit_id')
    .where('event_type', '=', 'activation.release_refused')
    .where('timestamp', '>=', new Date(today))
    .where('timestamp', '<', new Date(today + dayMs))
    .limit(1)
    .executeTakeFirst();
  if (!isTold)
    await change.audit('activation.release_refused', activation, {
      what: `may not give its seat back: ${budget} releases today`,
      error: message,
    });
  return { released: false, code: 'TOO_MANY_RELEASES', message };
}

function describe(found: Found, names: Map<string, string>): ValidationResult['license'] {
  return {
    licenseKey: found.license_key,
    type: found.type,
    validUntil: found.valid_until.toISOString(),
    modules: found.module_ids.map((moduleId) => ({ moduleId, name: names.get(moduleId) ?? moduleId })),
  };
}

function describeMachine(
  found: FoundSeat,
  machineId: string,
  heardAt: Date | null,
): ValidationResult['activation'] {
  return {
    activationId: found.activation_id,
    machineId,
    status: found.activation_status,
    activationType: found.activation_type,
    lastCheckedAt: heardAt?.toISOString() ?? null,
    createdAt: found.activation_created_at.toISOString(),
  };
}
