import { z } from 'zod';
import { id } from './common.ts';
import { anyone, route, staffWith } from './route.ts';
import { validationRequest, validationResult } from './validation.ts';

const base64url = (bytes: number, message: string) =>
  z.string().regex(new RegExp(`^[\\w-]{${Math.ceil((bytes * 4) / 3)}}$`), message);

/** Raw Ed25519: 32 bytes. */
export const publicKey = base64url(32, 'Must be an Ed25519 public key: 32 bytes in base64url').meta({
  description: 'Ed25519 public key of the machine, raw 32 bytes in base64url',
});

/** Without spaces and line breaks, since it is part of a signed text. */
const nonce = z
  .string()
  .regex(/^[!-~]{1,128}$/, 'Must be 1 to 128 printable ASCII characters without spaces')
  .optional();

const enrollmentInput = z
  .strictObject({
    ...validationRequest.shape,
    publicKey,
    nonce,
    signature: base64url(64, 'Must be an Ed25519 signature: 64 bytes in base64url').optional().meta({
      description:
        'By the key of the machine over the lines lanyard-enroll, nonce, machineId and license key, joined by line feeds; required with a nonce to enroll again',
    }),
  })
  .meta({ id: 'EnrollmentInput' });
export type EnrollmentInput = z.output<typeof enrollmentInput>;

const enrollmentResult = validationResult
  .extend({
    machineToken: z
      .string()
      .nullable()
      .meta({ description: 'Shown only here; null unless the code is VALID. Replaces an earlier token' }),
  })
  .meta({ id: 'EnrollmentResult' });
export type EnrollmentResult = z.output<typeof enrollmentResult>;

/** The text that a machine signs to enroll. `licenseKey` is in its canonical form, in groups. */
export const enrollmentText = (of: { nonce: string; machineId: string; licenseKey: string }): string =>
  `lanyard-enroll\n${of.nonce}\n${of.machineId}\n${of.licenseKey}`;

/** Why the enrollment of a machine cannot be ended; null when it can. */
export const credentialRefusal = {
  end: (a: { enrolledAt: string | null }) => (a.enrolledAt === null ? 'Machine is not enrolled' : null),
};

export const credentials = {
  enroll: route('POST', '/api/v1/machines/enroll', {
    summary: 'Enroll a machine: take a seat on a license with its key, and get a machine token',
    access: anyone,
    body: enrollmentInput,
    answer: enrollmentResult,
    shownOnce: true,
    errors: ['WRONG_STATE', 'RULE_VIOLATED'],
  }),
  end: route('DELETE', '/api/v1/machines/credentials/{activationId}', {
    summary: 'End the enrollment of a machine; it keeps its seat, and may enroll again with another key',
    access: staffWith('licenses', 'update'),
    params: z.object({ activationId: id }),
    errors: ['WRONG_STATE'],
  }),
};
