import { counted } from './ui/counted.ts';

type Affected = { licenses: number; machines: number };

/**
 * Which licenses a change of their customers affects, and what it means for the machines on them: nothing where there is
 * none. `whose`: `this customer`.
 */
export const licenseSentences = (
  { licenses, machines }: Affected,
  whose: string,
  ofMachines: (machines: number) => string,
): string[] =>
  licenses === 0
    ? [`No licenses belong to ${whose}.`]
    : [
        `${counted(licenses, 'license')} ${licenses === 1 ? 'belongs' : 'belong'} to ${whose}.`,
        ofMachines(machines),
      ];

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
