import { z } from 'zod';
import { anyone, route } from './route.ts';

/** The states of a signing key. */
export const signingKeyStates = ['current', 'next', 'retired', 'lost'] as const;

export const keys = {
  published: route({
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
