import type { LicenseImpact } from '../contract/licenses.ts';
import { counted } from './ui/counted.ts';

type Machines = Pick<LicenseImpact, 'machines' | 'offline'>;

/**
 * Which licenses a change of their customers affects, and what it means for the machines on them: nothing where there is
 * none. `whose`: `this customer`.
 */
export const licenseSentences = (
  { licenses, ...machines }: LicenseImpact,
  whose: string,
  ofMachines: (machines: Machines) => string[],
): string[] =>
  licenses === 0
    ? [`No licenses belong to ${whose}.`]
    : [
        `${counted(licenses, 'license')} ${licenses === 1 ? 'belongs' : 'belong'} to ${whose}.`,
        ...ofMachines(machines),
      ];

/** What a refusal, or the end of one, means for machines. */
export const refusedSentences = (machines: Machines) => sentences(refusedSentence, machines);
export const acceptedSentences = (machines: Machines) => sentences(acceptedSentence, machines);

const sentences = (sentenceOf: (machines: number) => string, { machines, offline }: Machines): string[] => [
  ...(machines === 0 && offline > 0 ? [] : [sentenceOf(machines)]),
  ...(offline > 0
    ? [
        offline === 1
          ? '1 machine has a license file, and may run until that ends.'
          : `${counted(offline, 'machine')} have a license file, and may run until that ends.`,
      ]
    : []),
];

const refusedSentence = (machines: number): string =>
  machines === 0
    ? 'No machine is refused: none runs on them now.'
    : machines === 1
      ? '1 machine is refused from its next check.'
      : `${counted(machines, 'machine')} are refused from their next check.`;

const acceptedSentence = (machines: number): string =>
  machines === 0
    ? 'No machine is waiting: none holds a seat that is valid now.'
    : machines === 1
      ? '1 machine is accepted again from its next check.'
      : `${counted(machines, 'machine')} are accepted again from their next check.`;
