import {
  validationMessages,
  type ValidationCode,
  type ValidationRequest,
  type ValidationResult,
} from '../../../contract/validation.ts';
import type { Caller } from '../../caller.ts';
import { runChange, type ChangeParts } from '../../change.ts';
import type { Context } from '../../context.ts';
import { whyStrained } from '../../db/client.ts';
import { createKeyedSlots } from '../../db/slots.ts';
import { signJson, type Signer } from '../../signer.ts';
import type { createModuleNames } from '../modules/index.ts';
import { parseLicenseKey } from '../licenses/index.ts';
import type { Answered } from './day-counts.ts';
import { decideOn, type Decision } from './decide-validation.ts';
import { hasSeat, type Found, type FoundSeat, type SeatFinder } from './find.ts';
import { takeSeat } from './take-seat.ts';
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
      runChange(validator, by, (change) => takeSeat(change, { licenseId, licenseKey }, request, config)),
    );
    // also for a refusal: the change may have freed the seat of this machine, or have waited for one that did
    found = await seats.find({ key: licenseKey, machineId: request.machineId });
    if (!found) code = 'NOT_FOUND';
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
