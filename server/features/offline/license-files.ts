import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { dayMs, utcDay } from '../../../contract/durations.ts';
import { utcMinute, type Activation } from '../../../contract/activations.ts';
import type { offline as calls } from '../../../contract/offline.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import { validationMessages } from '../../../contract/validation.ts';
import type { Change } from '../../change.ts';
import type { Context } from '../../context.ts';
import { breaksRule, fail, isFailure, noSuch, type Failure } from '../../failure.ts';
import type { Signer } from '../../signer.ts';
import { leaveSeat, toActivation, type ActivationRow } from '../activations/index.ts';
import { endorsementsOf } from '../keys/index.ts';
import { parseLicenseKey } from '../licenses/index.ts';
import { makeRecords } from '../update-events/index.ts';
import { machineHashOf } from '../../machine-hash.ts';
import { takeSeat } from '../validation/index.ts';
import { heldLicenseFile } from './held-file.ts';
import { encodeJws, jwsTypes } from './jws.ts';
import { readReceipt, readRequest, refuseReceipt, type OfflineRequest } from './machine-texts.ts';

export type Issuer = Pick<Context, 'config'> & {
  /** Rotation replaces the signer. */
  keys: { signer: Signer };
};

const notFound = noSuch('license');
const daySeconds = 86_400;

/**
 * Issues a license file for the machine that made the request, under the rules of a validation by staff. The machine's
 * seat is held until the file ends: after at most `days` days and the grace, and never after the license.
 */
export async function issueLicenseFile(
  change: Change,
  issuer: Issuer,
  licenseId: string,
  { request, days }: { request: string; days: number },
): Promise<RouteAnswer<typeof calls.issue> | Failure> {
  const asked = readRequest(request);
  if (isFailure(asked)) return asked;
  const license = await lockLicense(change, licenseId);
  if (!license) return notFound;
  const { license_key: licenseKey } = license;
  if (parseLicenseKey(asked.sub) !== licenseKey) return breaksRule('request', 'Is for another license');
  const before = await activationOf(change, licenseId, asked.machineId);
  const taken = before?.status === 'active' && (await refuseOtherKey(change, before, asked.key));
  if (taken) return taken;
  const code = await takeSeat(change, { licenseId, licenseKey }, asked, issuer.config);
  if (code !== 'VALID') return fail('WRONG_STATE', validationMessages[code]);

  const issuedAt = before ? await nextIssuedAt(change, before.activation_id) : change.now;
  // not far ahead, as a file of a process whose clock was: the machine could not use it yet
  const from = new Date(Math.min(issuedAt.getTime(), change.now.getTime() + clockToleranceMs));
  const { graceDays, ...times } = timesOf(from, days, license.valid_until, issuer.config);
  if (times.exp <= times.iat) return fail('WRONG_STATE', validationMessages.EXPIRED);
  const fileId = uuidv7();
  const endsAt = new Date((times.exp + graceDays * daySeconds) * 1000);
  const claims = {
    iss: issuer.config.publicUrl,
    sub: licenseKey,
    jti: fileId,
    ...times,
    machine: machineHashOf(asked.machineId),
    key: asked.key.toString('base64url'),
    type: license.type,
    modules: license.module_ids,
    grace: graceDays,
    // shows the machine that this file was made after its request
    request: asked.jti,
  };
  const { signer } = issuer.keys;
  // A machine without a network cannot ask who endorses a key that its program does not know.
  const endorsements = await endorsementsOf(change.tx, signer.keyId);
  const header = endorsements.length > 0 ? { endorsements } : {};
  const licenseFile = encodeJws(signer, jwsTypes.license, claims, header);
  const reliable = Math.min(
    change.now.getTime() + issuer.config.validationGraceMs,
    license.valid_until.getTime(),
  );
  const activation = await holdSeat(change, { licenseId, licenseKey }, asked, {
    // The machine may also rely on its last validation, or on an earlier file, even if staff took its seat since.
    until: new Date(Math.max(endsAt.getTime(), reliable, before?.offline_until?.getTime() ?? 0)),
    what: `license file ${fileId} issued, valid until ${utcMinute(endsAt.toISOString())}`,
  });
  await change.tx
    .insertInto('license_files')
    .values({
      file_id: fileId,
      activation_id: activation.activationId,
      public_key: asked.key,
      issued_at: issuedAt,
      ends_at: endsAt,
    })
    .execute();
  const fileName = fileNameOf(licenseKey, asked, endsAt);
  return { licenseFile, fileName, fileId, endsAt: endsAt.toISOString(), activation };
}

/**
 * Frees the seat of an offline machine by the receipt that its program made when it deleted its license file. Works
 * once, and only for the newest file of the machine.
 */
export async function takeReceipt(
  change: Change,
  licenseId: string,
  text: string,
): Promise<Activation | Failure> {
  const read = readReceipt(text);
  if (isFailure(read)) return read;
  const { said } = read;
  const license = await lockLicense(change, licenseId);
  if (!license) return notFound;
  const file = await change.tx
    .selectFrom('license_files as f')
    .innerJoin('activations as a', 'a.activation_id', 'f.activation_id')
    .select(['f.public_key', 'f.issued_at', 'f.returned_at', 'a.machine_id', 'a.answered_at'])
    .select(
      sql<boolean>`exists (select from license_files n where n.activation_id = f.activation_id and n.issued_at > f.issued_at)`.as(
        'is_replaced',
      ),
    )
    .where('f.file_id', '=', said.jti)
    .where('a.license_id', '=', licenseId)
    .executeTakeFirst();
  if (!file) return breaksRule('receipt', 'Is for no license file of this license');
  const { license_key: licenseKey } = license;
  const issued = { licenseKey, machineId: file.machine_id, publicKey: file.public_key };
  const refused = refuseReceipt(read, issued);
  if (refused) return refused;
  if (file.is_replaced)
    return breaksRule('receipt', 'Is for an older license file. The machine must give back its newest one');
  if (file.returned_at)
    return fail(
      'WRONG_STATE',
      `This receipt was entered already, ${utcMinute(file.returned_at.toISOString())}.`,
    );
  const row = await activationOf(change, licenseId, file.machine_id);
  // once the file has ended, the seat is free, or one that the machine took online
  if (row?.status !== 'active' || !row.offline_until)
    return fail('WRONG_STATE', 'The license file of this machine holds no seat any more.');
  if (file.answered_at && file.answered_at > latestMaking(said, file.issued_at, change.now))
    return fail(
      'WRONG_STATE',
      `This machine validated online after it made this receipt, ${utcMinute(file.answered_at.toISOString())}, ` +
        'so it may still run. Deactivate it by force once its program has stopped.',
    );
  const returned = await change.tx
    .updateTable('license_files')
    .set({ returned_at: change.now })
    .where('file_id', '=', said.jti)
    .where('returned_at', 'is', null)
    .executeTakeFirst();
  if (returned.numUpdatedRows !== 1n) throw new Error('A license file was returned without the lock');
  return leaveSeat(change, row, 'released', { event: 'activation.offline_returned', offlineUntil: null });
}

/** How far the clock of a machine with a network may be from ours. */
const clockToleranceMs = 60_000;

/**
 * When a receipt was made at the latest; if its time cannot be, as early as its file. It may be up to a day before it: the
 * process that issued the file may have been ahead. Of a file from the future, it is not known when it was issued.
 */
function latestMaking({ iat }: { iat: number }, issuedAt: Date, now: Date): Date {
  const made = iat * 1000;
  const issued = issuedAt > now ? 0 : issuedAt.getTime();
  const isPossible = made >= issued - dayMs && made <= now.getTime() + clockToleranceMs;
  return new Date((isPossible ? made : issued) + clockToleranceMs);
}

/** Locks the license first, like a validation. */
const lockLicense = ({ tx }: Change, licenseId: string) =>
  tx
    .selectFrom('licenses')
    .select(['license_key', 'type', 'module_ids', 'valid_until'])
    .where('license_id', '=', licenseId)
    .forUpdate()
    .executeTakeFirst();

/** Locked, so that the machine cannot enroll meanwhile. */
const activationOf = ({ tx }: Change, licenseId: string, machineId: string) =>
  tx
    .selectFrom('activations')
    .selectAll()
    .where('license_id', '=', licenseId)
    .where('machine_id', '=', machineId)
    .forUpdate()
    .executeTakeFirst();

/**
 * A machine that proved itself, or may run offline, keeps its key: two computers with one machine id must not share a
 * seat.
 */
async function refuseOtherKey(
  { tx, now }: Change,
  { activation_id, license_id: licenseId, machine_id: machineId }: ActivationRow,
  key: Buffer,
): Promise<Failure | undefined> {
  const file = await heldLicenseFile(tx, { licenseId, machineId }, now);
  if (file && !file.public_key.equals(key))
    return fail(
      'WRONG_STATE',
      `This machine has a license file for another key until ${utcMinute(file.ends_at.toISOString())}. ` +
        'Enter its return receipt, or deactivate it by force.',
    );
  const credential = await tx
    .selectFrom('machine_credentials')
    .select('public_key')
    .where('activation_id', '=', activation_id)
    .executeTakeFirst();
  if (!credential || credential.public_key.equals(key)) return undefined;
  return fail('WRONG_STATE', 'This machine is enrolled with another key. End its enrollment first.');
}

/**
 * In a later second than every other file of the machine, also if another process with a faster clock issued it: files
 * count whole seconds, and the machine tells them apart by that.
 */
async function nextIssuedAt({ tx, now }: Change, activationId: string): Promise<Date> {
  const newest = await tx
    .selectFrom('license_files')
    .select('issued_at')
    .where('activation_id', '=', activationId)
    .orderBy('issued_at', 'desc')
    .executeTakeFirst();
  if (!newest) return now;
  const nextSecond = (Math.floor(newest.issued_at.getTime() / 1000) + 1) * 1000;
  return new Date(Math.max(now.getTime(), nextSecond));
}

/** The times of a license file, in whole seconds; the grace is part of the time that the license has left. */
function timesOf(now: Date, days: number, validUntil: Date, { validationGraceMs }: Context['config']) {
  const [iat, last] = [now, validUntil].map((at) => Math.floor(at.getTime() / 1000)) as [number, number];
  const exp = Math.min(iat + days * daySeconds, last);
  const allowed = Math.floor(validationGraceMs / 1000 / daySeconds);
  return { iat, nbf: iat, exp, graceDays: Math.min(allowed, Math.floor((last - exp) / daySeconds)) };
}

async function holdSeat(
  change: Change,
  { licenseId, licenseKey }: { licenseId: string; licenseKey: string },
  { machineId, hostname, platform, architecture, osVersion, appVersion }: OfflineRequest,
  { until, what }: { until: Date; what: string },
): Promise<Activation> {
  const { tx, now } = change;
  const before = await tx
    .selectFrom('activations')
    .selectAll()
    .where('license_id', '=', licenseId)
    .where('machine_id', '=', machineId)
    .executeTakeFirstOrThrow();
  const after = await tx
    .updateTable('activations')
    .set({ activation_type: 'offline', offline_until: until })
    .set({ hostname, platform, architecture, os_version: osVersion, app_version: appVersion })
    .where('activation_id', '=', before.activation_id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await makeRecords(tx, [{ machineHash: machineHashOf(machineId), firstAt: now }]);
  const activation = toActivation(after);
  await change.audit(
    'activation.offline_issued',
    { ...activation, licenseKey },
    { what, before: { ...toActivation(before), licenseId }, after: { ...activation, licenseId } },
  );
  return activation;
}

/** Such as `ER6S9-ws-07-2026-12-01.lic`: what every file system and mail program accepts. */
function fileNameOf(licenseKey: string, { hostname, machineId }: OfflineRequest, endsAt: Date): string {
  const machine = (hostname || machineId).replaceAll(/[^\w-]+/g, '-').slice(0, 40);
  return `${licenseKey.slice(0, 5)}-${machine}-${utcDay(endsAt)}.lic`;
}
