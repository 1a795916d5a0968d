import { z } from 'zod';
import { namedObject } from './common.ts';
import { anyone, route } from './route.ts';

/** The states of a signing key. */
export const signingKeyStates = ['current', 'next', 'retired', 'lost'] as const;

export const keys = {
  published: route('GET', '/api/v1/keys', {
    summary: 'Public keys of validation signatures; the current one comes first',
    access: anyone,
    answer: z.array(
      namedObject('SigningKey', {
        keyId: z.string(),
        algorithm: z.literal('Ed25519'),
        publicKeyPem: z.string(),
        state: z.enum(signingKeyStates).meta({
          description:
            'current: in use. next: will be used. retired: was used. lost: was used and its private key is lost',
        }),
        endorsement: z
          .object({ keyId: z.string(), signed: z.string(), signature: z.string() })
          .nullable()
          .meta({
            description:
              'Signed by the previous key: `signed` is JSON with `purpose` "lanyard signing key" and this key. ' +
              'A client that trusts the key `keyId` and verifies `signature` over `signed` can trust this key',
          }),
      }),
    ),
  }),
};
