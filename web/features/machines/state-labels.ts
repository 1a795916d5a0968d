import type { MachineStanding, MachineState } from '../../../contract/machine-standing.ts';
import { refusalReasons } from '../../refusal-reasons.ts';
import { counted } from '../../ui/counted.ts';
import type { Tone } from '../../ui/StatusBadge.tsx';

export const stateLabels: Record<MachineState, { word: string; tone: Tone }> = {
  active: { word: 'Active', tone: 'teal' },
  offline: { word: 'Offline', tone: 'violet' },
  clone: { word: 'Clone', tone: 'amber' },
  refused: { word: 'Refused', tone: 'red' },
  no_seat: { word: 'No seat', tone: 'neutral' },
};

export const seenLabels = {
  seen: (days: string) => `Seen in ${counted(Number(days), 'day')}`,
  unseen: (days: string) => `Not in ${counted(Number(days), 'day')}`,
};

/** Why the machine stands as it does, where its state does not say it. */
export const reasonOf = ({ code }: Pick<MachineStanding, 'code'>): string | null =>
  code && code !== 'VALID' ? refusalReasons[code] : null;
