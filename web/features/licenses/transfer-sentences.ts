import type { TransferImpact } from '../../../contract/licenses.ts';
import { counted } from '../../ui/counted.ts';
import { countText } from '../../ui/numbers.ts';

/** What a transfer would change, in sentences; `from`: the customer that has the license. */
export function transferSentences({ to, machines, policy, updates }: TransferImpact, from: string): string[] {
  const seats =
    machines === 0
      ? 'No machine holds a seat on it.'
      : `${counted(machines, 'machine')} ${machines === 1 ? 'keeps its seat' : 'keep their seats'}, and ${machines === 1 ? 'belongs' : 'belong'} to ${to.name ?? 'the new customer'}.`;
  return [
    seats,
    ...(policy && policy.from.length > 0 ? [`The update policy of ${from} no longer applies to them.`] : []),
    ...(policy?.to ?? []),
    ...(updates.machines > 0 ? [offers(updates)] : []),
    'What was done before stays in the history of the present customer.',
  ];
}

function offers({ machines, changed, held, isComplete }: TransferImpact['updates']): string {
  const all = `${isComplete ? '' : 'the first '}${counted(machines, 'machine')}`;
  if (changed === 0) return `None of ${all} would be offered another release.`;
  const none = held > 0 ? `, ${countText(held)} of them none for now` : '';
  return `${countText(changed)} of ${all} would be offered another release${none}.`;
}
