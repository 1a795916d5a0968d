import { credentialRefusal } from '../../../contract/credentials.ts';
import type { Change } from '../../change.ts';
import { noSuch, wrongState, type Failure } from '../../failure.ts';
import { toIdentity } from '../activations/index.ts';

/**
 * Ends the enrollment of a machine on behalf of staff: its token is refused at once, in every process. It keeps its
 * seat, and the next enrollment may come with any key.
 */
export async function endEnrollment(change: Change, activationId: string): Promise<undefined | Failure> {
  const { tx } = change;
  // By itself: a query that waits would read the credential of before.
  await tx
    .selectFrom('activations')
    .select('activation_id')
    .where('activation_id', '=', activationId)
    .forUpdate()
    .execute();
  const found = await tx
    .selectFrom('activations as a')
    .innerJoin('licenses as l', 'l.license_id', 'a.license_id')
    .leftJoin('machine_credentials as m', 'm.activation_id', 'a.activation_id')
    .select(['a.activation_id as activationId', 'a.machine_id as machineId', 'a.license_id as licenseId'])
    .select(['l.license_key as licenseKey', 'm.enrolled_at', 'm.cloned_at', 'm.own_hash'])
    .where('a.activation_id', '=', activationId)
    .executeTakeFirst();
  if (!found) return noSuch('activation');
  const { enrolled_at, cloned_at, own_hash, ...activation } = found;
  const identity = toIdentity({ enrolled_at, cloned_at, own_hash });
  const refusal = wrongState(credentialRefusal.end(identity));
  if (refusal) return refusal;
  await tx.deleteFrom('machine_credentials').where('activation_id', '=', activationId).execute();
  await change.audit('activation.enrollment_ended', activation, {
    before: { ...activation, ...identity },
    after: { ...activation, enrolledAt: null, clonedAt: null, ownRecord: null },
  });
  return undefined;
}
