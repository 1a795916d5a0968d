import type { Activation } from '../../../contract/activations.ts';
import type { ValidationCode } from '../../../contract/validation.ts';

/** What a validation looks at. Undefined: there is no such license, or the machine has never had a seat. */
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
  /** Staff who validate a machine reactivate it (spec part 1, section 4); a desktop cannot. */
  byStaff: boolean;
  now: Date;
};

export type Decision = { code: ValidationCode; takesSeat: boolean };

const refused = (code: ValidationCode): Decision => ({ code, takesSeat: false });

/**
 * Decides a validation. The order is the order in which a person would mend things: the
 * license and its owner first, then the machine. `takesSeat` tells that the machine is to be given one.
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
