import { counted } from './ui/counted.ts';

/** What a refusal means for running machines. */
export const refusedSentence = (machines: number): string =>
  machines === 0
    ? 'No machine is refused: none runs on them now.'
    : machines === 1
      ? '1 machine is refused from its next check.'
      : `${counted(machines, 'machine')} are refused from their next check.`;

/** What the reactivation means for machines that kept their seats. */
export const acceptedSentence = (machines: number): string =>
  machines === 0
    ? 'No machine is waiting: none holds a seat that is valid now.'
    : machines === 1
      ? '1 machine is accepted again from its next check.'
      : `${counted(machines, 'machine')} are accepted again from their next check.`;
