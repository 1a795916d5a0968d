import { z } from 'zod';
import { activation, licenseKeyInput, machineId } from './activations.ts';
import { dateTime, id, line, namedObject, text } from './common.ts';
import { licenseTypes } from './list-words.ts';
import { apiKeyOrStaffWith, route, staffWith } from './route.ts';

/** The outcomes of a validation; each is returned with HTTP 200. */
export const validationCodes = [
  'VALID',
  'NOT_FOUND',
  'MALFORMED_KEY',
  'REVOKED',
  'NOT_YET_VALID',
  'EXPIRED',
  'CUSTOMER_INACTIVE',
  'TOO_MANY_ACTIVATIONS',
  'MACHINE_DEACTIVATED',
] as const;
export type ValidationCode = (typeof validationCodes)[number];

/** The message of each code; spec part 1 shows it to staff who reactivate a machine. */
export const validationMessages: Record<ValidationCode, string> = {
  VALID: 'The license is valid on this machine.',
  NOT_FOUND: 'There is no license with this key.',
  MALFORMED_KEY: 'This is not a license key. Check it for typing errors.',
  REVOKED: 'The license has been revoked.',
  NOT_YET_VALID: 'The license is not valid yet.',
  EXPIRED: 'The license has expired.',
  CUSTOMER_INACTIVE: 'The customer of this license is not active.',
  TOO_MANY_ACTIVATIONS: 'All activations of this license are in use. Deactivate a machine first.',
  MACHINE_DEACTIVATED: 'This machine has been deactivated for this license.',
};

/** The outcomes when a machine releases its seat; each is returned with HTTP 200. */
export const seatReleaseCodes = [
  'RELEASED',
  'NO_SEAT',
  'TOO_MANY_RELEASES',
  'OFFLINE_SEAT',
  'ENROLLED_SEAT',
] as const;

const machineFacts = {
  hostname: line(253).optional(),
  platform: text(50).optional(),
  architecture: text(50).optional(),
  osVersion: text(100).optional(),
  appVersion: text(100).optional(),
};

export const validationRequest = z.strictObject({
  licenseKey: licenseKeyInput,
  machineId,
  nonce: text(128).optional(),
  ...machineFacts,
});
export type ValidationRequest = z.output<typeof validationRequest>;

export const validatedActivation = activation.pick({
  activationId: true,
  machineId: true,
  status: true,
  activationType: true,
  lastCheckedAt: true,
  createdAt: true,
});

/**
 * The result of a validation. `signed` is the exact signed text: the other fields as JSON. A desktop verifies
 * `signature` over the UTF-8 bytes of `signed`, then reads `signed`, and trusts no other field.
 */
export const validationResult = namedObject('ValidationResult', {
  valid: z.boolean(),
  code: z.enum(validationCodes),
  message: z.string(),
  license: z
    .object({
      licenseKey: z.string(),
      type: z.enum(licenseTypes),
      validUntil: dateTime,
      modules: z.array(z.object({ moduleId: z.string(), name: z.string() })),
    })
    .nullable(),
  activation: validatedActivation.nullable(),
  machineId: z.string(),
  nonce: z.string().nullable(),
  issuedAt: dateTime,
  expiresAt: dateTime.meta({
    description:
      'Until when the application may rely on this result without validating again; a refusal must not be cached',
  }),
  signed: z.string(),
  signature: z.string().meta({ description: 'Ed25519, base64' }),
  keyId: z.string(),
});
export type ValidationResult = z.output<typeof validationResult>;

/** Of how many days single validations are counted, and so kept. */
export const validationDays = 30;

export const validation = {
  ofLicense: route('GET', '/api/v1/licenses/{id}/validations', {
    summary: `What validations of a license answered in the last ${validationDays} days, the most frequent result first`,
    access: staffWith('licenses', 'read'),
    params: z.object({ id }),
    answer: z.array(
      namedObject('ValidationCount', {
        code: z.enum(validationCodes),
        count: z.number(),
        machines: z.number().meta({ description: 'Distinct machine ids' }),
      }),
    ),
  }),
  validate: route('POST', '/api/licenses/validate', {
    summary:
      'Validate a license on a machine; the first validation takes a seat. Called by staff, it reactivates the machine',
    access: apiKeyOrStaffWith('validate', 'licenses', 'update'),
    evenUnlicensed: true,
    body: validationRequest,
    answer: validationResult,
  }),
  releaseSeat: route('POST', '/api/licenses/deactivate', {
    summary: 'Release the seat of a machine; the machine can validate again later',
    access: apiKeyOrStaffWith('validate', 'licenses', 'update'),
    body: z.strictObject({ licenseKey: licenseKeyInput, machineId }),
    answer: namedObject('ReleaseResult', {
      released: z.boolean(),
      code: z.enum(seatReleaseCodes),
      message: z.string(),
    }),
  }),
};
