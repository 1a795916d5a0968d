import { createHash } from 'node:crypto';
import {
  enrollmentText,
  type EnrollmentInput,
  type EnrollmentResult,
} from '../../../contract/credentials.ts';
import type { ValidationRequest } from '../../../contract/validation.ts';
import { newBearerKey } from '../../bearer-keys.ts';
import type { Budgets } from '../../budgets.ts';
import { nobody, type Caller } from '../../caller.ts';
import { runChange, type Change } from '../../change.ts';
import type { Db, Tx } from '../../db/client.ts';
import { breaksRule, fail, isFailure, tooMany, type Failure } from '../../failure.ts';
import { isSignedBy } from '../../machine-signature.ts';
import { countUnknownKey } from '../../throttle.ts';
import { parseLicenseKey } from '../licenses/index.ts';
import { heldLicenseFile } from '../offline/index.ts';
import { validate, type Validator } from '../validation/index.ts';
import { claimRecord } from './claim-record.ts';
import { enrollmentsOf, newMachinesOf, refusalsOf, takeFromBudget } from './limits.ts';

export type Enrolling = { validator: Validator; budgets: Budgets };

/**
 * Enrolls a machine: validates its license like any unauthenticated caller, and returns a machine token with the signed
 * result if that is valid. A machine that is already enrolled proves itself with a nonce signed by the same key, and its
 * token is replaced. A machine with another key is refused (WRONG_STATE) as long as the machine holds its seat.
 */
export async function enroll(
  { validator, budgets }: Enrolling,
  caller: Caller,
  { publicKey, signature, ...request }: EnrollmentInput,
): Promise<EnrollmentResult | Failure> {
  const { db, config, recorder } = validator;
  const by = { ...caller, actor: nobody };
  const licenseKey = parseLicenseKey(request.licenseKey);
  const license = licenseKey === undefined ? undefined : await licenseOf(db, licenseKey);
  if (!license) {
    const retryAfter = await countUnknownKey(validator, by, licenseKey ?? request.licenseKey);
    if (retryAfter !== undefined) return tooMany(tooManyUnknownKeys, retryAfter);
    return { ...(await validate(validator, by, request)), machineToken: null };
  }
  const proof = readProof({ ...request, ...license, publicKey, signature });
  const decided: Parameters<typeof recorder.add>[0][] = [];
  const recordLater = { ...recorder, add: (row: (typeof decided)[number]) => void decided.push(row) };
  const answer = isFailure(proof)
    ? proof
    : await enrollOn({ validator: { ...validator, recorder: recordLater }, budgets }, by, license, {
        request,
        proof,
      });
  if (isFailure(answer) || answer.machineToken === null) {
    const limited = await takeFromBudget(
      budgets,
      by,
      license,
      refusalsOf(license, config.enrollmentsPerLicenseHour),
    );
    if (limited) return limited;
    // what the machine signed must not count later either
    if (!isFailure(proof) && proof.signedNonce)
      await runChange(validator, by, (change) => useNonce(change, license, proof));
  }
  for (const row of decided) recorder.add(row);
  return answer;
}

const tooManyUnknownKeys = 'Too many unknown license keys from this address.';

type LicenseOf = { licenseId: string; licenseKey: string; seats: number };

const licenseOf = (db: Db, licenseKey: string): Promise<LicenseOf | undefined> =>
  db
    .selectFrom('licenses')
    .select(['license_id as licenseId', 'license_key as licenseKey', 'max_activations as seats'])
    .where('license_key', '=', licenseKey)
    .executeTakeFirst();

/** Enrolls a machine on a license that exists, with a token or the reason why it gets none. */
async function enrollOn(
  { validator, budgets }: Enrolling,
  by: Caller,
  license: LicenseOf,
  { request, proof }: { request: ValidationRequest; proof: Proof },
): Promise<EnrollmentResult | Failure> {
  const { db, config } = validator;
  const { machineId } = request;
  const refused = await refuseEnrollment(db, license, machineId, proof, by.now);
  if (refused) return refused;
  const budget = (await isKnown(db, license, machineId, proof))
    ? enrollmentsOf(license, config.enrollmentsPerLicenseHour)
    : newMachinesOf(license);
  const limited = await takeFromBudget(budgets, by, license, budget);
  if (limited) return limited;
  const result = await validate(validator, by, request, { sequence: null }).catch((error: unknown) => {
    // otherwise a busy database would keep new machines out for the rest of the hour
    budgets.putBack(budget, by.now);
    throw error;
  });
  if (!result.valid) {
    budgets.putBack(budget, by.now);
    return { ...result, machineToken: null };
  }
  const machineToken = await runChange(validator, by, (change) =>
    giveToken(change, license, machineId, proof),
  );
  // refused, with a seat that is not that of another enrollment: this call took it, so it counts
  const isForeign = isFailure(machineToken) && (await credentialOf(db, license, machineId)) !== undefined;
  if (machineToken === null || isForeign) budgets.putBack(budget, by.now);
  return isFailure(machineToken) ? machineToken : { ...result, machineToken };
}

/**
 * Whether the machine holds its seat, or held it until its license file ended, and proves the key of that file: staff
 * issued it, so no stranger has invented the machine.
 */
async function isKnown(
  db: Db,
  { licenseId }: LicenseOf,
  machineId: string,
  { publicKey, signedNonce }: Proof,
): Promise<boolean> {
  const seat = await db
    .selectFrom('activations as a')
    .leftJoin('license_files as f', 'f.activation_id', 'a.activation_id')
    .select(['a.status', 'a.offline_until', 'f.public_key'])
    .where('a.license_id', '=', licenseId)
    .where('a.machine_id', '=', machineId)
    .orderBy('f.issued_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (seat?.status !== 'released' || !seat.offline_until) return seat?.status === 'active';
  return signedNonce !== undefined && seat.public_key?.equals(publicKey) === true;
}

/** The key of a machine, and the hash of the nonce that it signed, if it did. */
type Proof = { publicKey: Buffer; signedNonce: Buffer | undefined };

function readProof(
  of: Pick<EnrollmentInput, 'publicKey' | 'signature' | 'nonce' | 'machineId'> & { licenseKey: string },
): Proof | Failure {
  const { publicKey, signature, nonce, machineId, licenseKey } = of;
  const raw = Buffer.from(publicKey, 'base64url');
  if (signature === undefined) return { publicKey: raw, signedNonce: undefined };
  if (nonce === undefined) return breaksRule('nonce', 'Is required with a signature');
  const text = enrollmentText({ nonce, machineId, licenseKey });
  if (!isSignedBy(raw, text, Buffer.from(signature, 'base64url')))
    return breaksRule('signature', 'Is not by the key of the machine over this nonce, machine and license');
  return { publicKey: raw, signedNonce: createHash('sha256').update(nonce).digest() };
}

const credentialOf = (db: Db, { licenseId }: LicenseOf, machineId: string) =>
  db
    .selectFrom('activations as a')
    .innerJoin('machine_credentials as m', 'm.activation_id', 'a.activation_id')
    .select('m.public_key')
    .where('a.license_id', '=', licenseId)
    .where('a.machine_id', '=', machineId)
    .executeTakeFirst();

/**
 * Why the machine may not enroll with this proof: it must have the key of its token and of its license file, and a nonce
 * that this key has not used before, whether the machine still holds its seat or not.
 */
async function refuseEnrollment(
  db: Db,
  license: LicenseOf,
  machineId: string,
  { publicKey, signedNonce }: Proof,
  now: Date,
): Promise<Failure | undefined> {
  const credential = await credentialOf(db, license, machineId);
  const known = [credential, await heldLicenseFile(db, { ...license, machineId }, now)];
  if (known.some((holder) => holder && !holder.public_key.equals(publicKey)))
    return fail('WRONG_STATE', 'This machine is enrolled with another key. Ask the vendor to release it.');
  if (!signedNonce)
    return known.some(Boolean)
      ? breaksRule('signature', 'Is required with a nonce, since the key of this machine is known')
      : undefined;
  const used = await db
    .selectFrom('used_nonces')
    .select('nonce_hash')
    .where('license_id', '=', license.licenseId)
    .where('public_key', '=', publicKey)
    .where('nonce_hash', '=', signedNonce)
    .executeTakeFirst();
  return used && nonceUsed;
}

const nonceUsed = breaksRule('nonce', 'Was used before by this machine');

/**
 * Creates or replaces the token of a machine that holds a seat; null if the seat was taken from it meanwhile. The lock
 * on the activation orders it with the end of the seat, and with other enrollments of the machine.
 */
async function giveToken(
  change: Change,
  license: LicenseOf,
  machineId: string,
  proof: Proof,
): Promise<string | null | Failure> {
  const { tx, now } = change;
  const { licenseId, licenseKey } = license;
  // before the seat: useNonce locks the license, and locks are taken in one order
  const owner = await shareLicense(tx, licenseId);
  const seat = await tx
    .selectFrom('activations')
    .select(['activation_id', 'status'])
    .where('license_id', '=', licenseId)
    .where('machine_id', '=', machineId)
    .forUpdate()
    .executeTakeFirst();
  if (!owner || seat?.status !== 'active') return null;
  const refused = await refuseEnrollment(tx, license, machineId, proof, now);
  if (refused) return refused;
  if (!(await useNonce(change, license, proof))) return nonceUsed;
  const before = await credentialOf(tx, license, machineId);
  const ownHash = before ? null : await claimRecord(change, owner, machineId);
  if (ownHash) await change.announce('records', [ownHash.toString('hex')]);
  // ends the previous token
  if (before) await change.announce('records', [seat.activation_id]);
  const { text, id, secretHash } = newBearerKey('lym');
  const token = { token_id: id, secret_hash: secretHash, sequence: null };
  await tx
    .insertInto('machine_credentials')
    .values({
      activation_id: seat.activation_id,
      public_key: proof.publicKey,
      enrolled_at: now,
      own_hash: ownHash,
      ...token,
    })
    .onConflict((conflict) => conflict.column('activation_id').doUpdateSet(token))
    .execute();
  await change.audit(
    'activation.enrolled',
    { activationId: seat.activation_id, machineId, licenseKey },
    {
      what: before
        ? 'enrolled again, which replaced its token'
        : ownHash
          ? 'enrolled; its machine id is that of a machine of another customer, so it has a record of its own'
          : 'enrolled',
      after: { licenseId, publicKey: proof.publicKey.toString('base64url') },
    },
  );
  return text;
}

/** Keeps the license from being deleted or transferred until the transaction ends; undefined if it was deleted before. */
const shareLicense = (tx: Tx, licenseId: string) =>
  tx
    .selectFrom('licenses')
    .select('customer_id as customerId')
    .where('license_id', '=', licenseId)
    .forKeyShare()
    .executeTakeFirst();

/** Keeps the signed nonce, if there is one; false if the key has used it on this license before. */
async function useNonce(
  { tx }: Change,
  { licenseId }: LicenseOf,
  { publicKey, signedNonce }: Proof,
): Promise<boolean> {
  if (!signedNonce) return true;
  // deleted meanwhile, with its nonces
  if (!(await shareLicense(tx, licenseId))) return true;
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('used_nonces')
    .values({ license_id: licenseId, public_key: publicKey, nonce_hash: signedNonce })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}
