import type { MachineStanding, MachineState, seenRanges } from '../../../contract/machine-standing.ts';
import type { ValidationCode } from '../../../contract/validation.ts';
import type { Tone } from '../../ui/StatusBadge.tsx';

export const stateLabels: Record<MachineState, { word: string; tone: Tone }> = {
  active: { word: 'Active', tone: 'teal' },
  offline: { word: 'Offline', tone: 'violet' },
  clone: { word: 'Clone', tone: 'amber' },
  refused: { word: 'Refused', tone: 'red' },
  no_seat: { word: 'No seat', tone: 'neutral' },
};

export const seenLabels: Record<(typeof seenRanges)[number], string> = {
  day: 'Seen in 24 hours',
  week: 'Seen in 7 days',
  month: 'Seen in 30 days',
  before: 'Not in 30 days',
};

/** Why a machine is refused, after a colon. */
export const refusalReasons: Record<ValidationCode, string> = {
  VALID: 'valid',
  NOT_FOUND: 'unknown license key',
  MALFORMED_KEY: 'malformed license key',
  REVOKED: 'license revoked',
  NOT_YET_VALID: 'license not valid yet',
  EXPIRED: 'license expired',
  CUSTOMER_INACTIVE: 'customer not active',
  TOO_MANY_ACTIVATIONS: 'seats full',
  MACHINE_DEACTIVATED: 'deactivated by staff',
};

/** Why the machine stands as it does, where its state does not say it. */
export const reasonOf = ({ state, code }: Pick<MachineStanding, 'state' | 'code'>): string | null =>
  state === 'refused' && code ? refusalReasons[code] : null;
