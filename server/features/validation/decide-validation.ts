import type { Activation } from '../../../contract/activations.ts';
import type { ValidationCode } from '../../../contract/validation.ts';
import type { Caller } from '../../caller.ts';
import type { Found } from './find.ts';

type LicenseFields = Pick<
  Found,
  | 'status'
  | 'valid_from'
  | 'valid_until'
  | 'max_activations'
  | 'current_activations'
  | 'customer_status'
  | 'customer_deleted_at'
>;

/** The input of a validation. Undefined: the license does not exist, or the machine has never had a seat. */
export type Question = {
  license: LicenseFields | undefined;
  seat: Activation['status'] | null | undefined;
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
export function decideValidation({ license, seat, byStaff, now }: Question): Decision {
  if (!license) return refused('NOT_FOUND');
  if (license.customer_deleted_at || license.customer_status !== 'active')
    return refused('CUSTOMER_INACTIVE');
  if (license.status === 'revoked') return refused('REVOKED');
  if (now < license.valid_from) return refused('NOT_YET_VALID');
  if (now > license.valid_until) return refused('EXPIRED');
  if (seat === 'active') return { code: 'VALID', takesSeat: false };
  if (seat === 'deactivated' && !byStaff) return refused('MACHINE_DEACTIVATED');
  if (license.current_activations >= license.max_activations) return refused('TOO_MANY_ACTIVATIONS');
  return { code: 'VALID', takesSeat: true };
}

/** The decision on the rows of a license, its owner and the machine's seat, for this caller, now. */
export const decideOn = (
  license: LicenseFields | undefined,
  status: Question['seat'],
  { actor, now }: Caller,
): Decision => decideValidation({ license, seat: status, byStaff: actor.kind === 'staff', now });
