import type { Activation } from '../../../contract/activations.ts';
import type { ValidationCode } from '../../../contract/validation.ts';

/** The input of a validation. Undefined: the license does not exist, or the machine has never had a seat. */
export type Facts = {
  license:
    | {
        status: 'active' | 'revoked';
        validFrom: Date;
        validUntil: Date;
        maxActivations: number;
        currentActivations: number;
        customerStatus: 'active' | 'inactive';
        customerDeletedAt: Date | null;
      }
    | undefined;
  machine: Pick<Activation, 'status'> | undefined;
  /** Validation by staff reactivates a machine (spec part 1, section 4); by a desktop it does not. */
  byStaff: boolean;
  now: Date;
};

export type Decision = { code: ValidationCode; takesSeat: boolean };

const refused = (code: ValidationCode): Decision => ({ code, takesSeat: false });

/**
 * Decides a validation, in the order in which a person would fix the problems: the license and its owner first, then
 * the machine. `takesSeat` is true when the machine is to be given a seat.
 */
export function decideValidation({ license, machine, byStaff, now }: Facts): Decision {
  if (!license) return refused('NOT_FOUND');
  if (license.customerDeletedAt || license.customerStatus !== 'active') return refused('CUSTOMER_INACTIVE');
  if (license.status === 'revoked') return refused('REVOKED');
  if (now < license.validFrom) return refused('NOT_YET_VALID');
  if (now > license.validUntil) return refused('EXPIRED');
  if (machine?.status === 'active') return { code: 'VALID', takesSeat: false };
  if (machine?.status === 'deactivated' && !byStaff) return refused('MACHINE_DEACTIVATED');
  if (license.currentActivations >= license.maxActivations) return refused('TOO_MANY_ACTIVATIONS');
  return { code: 'VALID', takesSeat: true };
}
