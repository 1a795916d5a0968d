import { activations, type Activation } from '../../../contract/activations.ts';
import { offline } from '../../../contract/offline.ts';
import { validation } from '../../../contract/validation.ts';
import { call } from '../../api.ts';
import { live } from '../../live.ts';
import { queryOf } from '../../query-of.ts';

export const activationsQuery = (licenseKey: string) =>
  queryOf(activations.list, { params: { licenseKey } }, live);

/** `force`: also while the machine may run offline. */
export const deactivateMachine = ({
  activationId,
  machineId,
  force,
}: Pick<Activation, 'activationId' | 'machineId'> & { force?: true }) =>
  call(activations.deactivate, { params: { activationId }, body: { machineId, force } });

/**
 * Gives a machine its seat back, by a validation from staff (spec part 1, section 4). A refusal has status 200, but is
 * a failure for the user.
 */
export async function reactivateMachine(licenseKey: string, machineId: string) {
  const result = await call(validation.validate, { body: { licenseKey, machineId } });
  if (!result.valid) throw new Error(`${result.message} (${result.code})`);
  return result;
}

export const issueLicenseFile = ({
  licenseId,
  ...body
}: {
  licenseId: string;
  request: string;
  days: number;
}) => call(offline.issue, { params: { id: licenseId }, body });
export type LicenseFile = Awaited<ReturnType<typeof issueLicenseFile>>;

export const giveBackSeat = (licenseId: string, receipt: string) =>
  call(offline.giveBack, { params: { id: licenseId }, body: { receipt } });
