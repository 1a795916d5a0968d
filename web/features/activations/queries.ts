import { queryOptions } from '@tanstack/react-query';
import { activations, type Activation } from '../../../contract/activations.ts';
import { validation } from '../../../contract/validation.ts';
import { call, callList } from '../../api.ts';
import { live } from '../../live.ts';

export const activationsQuery = (licenseKey: string) =>
  queryOptions({
    ...live,
    queryKey: ['activations', licenseKey],
    queryFn: ({ signal }) => callList(activations.list, { params: { licenseKey } }, { signal }),
  });

export const deactivateMachine = ({
  activationId,
  machineId,
}: Pick<Activation, 'activationId' | 'machineId'>) =>
  call(activations.deactivate, { params: { activationId }, body: { machineId } });

/**
 * Gives a machine its seat back, by a validation from staff (spec part 1, section 4). A refusal has status 200, but is
 * a failure for the user.
 */
export async function reactivateMachine(licenseKey: string, machineId: string) {
  const result = await call(validation.validate, { body: { licenseKey, machineId } });
  if (!result.valid) throw new Error(`${result.message} (${result.code})`);
  return result;
}
