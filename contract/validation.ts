import { z } from 'zod';
import { activation, licenseKeyInput, machineId } from './activations.ts';
import { answeredInstant, text } from './common.ts';
import { licenseTypes } from './licenses.ts';
import { anyone, apiKeyOrStaffWith, route } from './route.ts';

/** The decided outcomes of a validation; each is answered with HTTP 200. */
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

/** The sentence that goes with each code; spec part 1 shows it to staff who reactivate a machine. */
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

/** What a key that validations are signed with may be. */
export const signingKeyStates = ['current', 'next', 'retired', 'lost'] as const;

/** What may come of a machine that gives its seat back; each is answered with HTTP 200. */
export const releaseCodes = ['RELEASED', 'NO_SEAT', 'TOO_MANY_RELEASES'] as const;

const machineFacts = {
  hostname: text(253).optional(),
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
 * What a validation answers. `signed` is the exact text that was signed: the other fields as JSON. A desktop
 * verifies `signature` over the UTF-8 bytes of `signed`, then reads `signed`, and trusts nothing beside it.
 */
export const validationResult = z
  .object({
    valid: z.boolean(),
    code: z.enum(validationCodes),
    message: z.string(),
    license: z
      .object({
        licenseKey: z.string(),
        type: z.enum(licenseTypes),
        validUntil: answeredInstant,
        modules: z.array(z.object({ moduleId: z.string(), name: z.string() })),
      })
      .nullable(),
    activation: validatedActivation.nullable(),
    machineId: z.string(),
    nonce: z.string().nullable(),
    issuedAt: answeredInstant,
    expiresAt: answeredInstant.meta({
      description:
        'Until when the program may rely on the answer without asking again; a refusal holds for this moment alone',
    }),
    signed: z.string(),
    signature: z.string().meta({ description: 'Ed25519, base64' }),
    keyId: z.string(),
  })
  .meta({ id: 'ValidationResult' });
export type ValidationResult = z.output<typeof validationResult>;

export const validation = {
  validate: route({
    method: 'POST',
    path: '/api/licenses/validate',
    summary:
      'Validate a license on a machine; the first time takes a seat. From staff: reactivates the machine',
    access: apiKeyOrStaffWith('validate', 'licenses', 'update'),
    body: validationRequest,
    answer: validationResult,
  }),
  release: route({
    method: 'POST',
    path: '/api/licenses/deactivate',
    summary: 'A machine gives its seat back; it may come back later',
    access: apiKeyOrStaffWith('validate', 'licenses', 'update'),
    body: z.strictObject({ licenseKey: licenseKeyInput, machineId }),
    answer: z
      .object({ released: z.boolean(), code: z.enum(releaseCodes), message: z.string() })
      .meta({ id: 'ReleaseResult' }),
  }),
  keys: route({
    method: 'GET',
    path: '/api/v1/keys',
    summary: 'The public keys that validations are signed with; the one that signs now comes first',
    access: anyone,
    answer: z.array(
      z
        .object({
          keyId: z.string(),
          algorithm: z.literal('Ed25519'),
          publicKeyPem: z.string(),
          state: z.enum(signingKeyStates).meta({
            description:
              'current: signs now. next: will sign. retired: signed before. lost: signed before, and is gone',
          }),
          endorsement: z
            .object({ keyId: z.string(), signed: z.string(), signature: z.string() })
            .nullable()
            .meta({
              description:
                'What the key before it signed: `signed` is JSON with `purpose` "lanyard signing key" and this key. ' +
                'Who trusts the key `keyId`, and verifies `signature` over `signed`, can trust this one',
            }),
        })
        .meta({ id: 'SigningKey' }),
    ),
  }),
};
