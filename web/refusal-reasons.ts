import { capitalize } from '../contract/text.ts';
import type { ValidationCode } from '../contract/validation.ts';

/** Why a machine is refused, in words that follow a colon. */
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

/** The result of a validation: `License revoked`. */
export const resultText = (code: ValidationCode): string => capitalize(refusalReasons[code]);
