import { expect, test } from 'vitest';
import { licenseKey, newFolder, newSigner } from './fake-server.testing.ts';
import { createClient } from './create-client.ts';

/* What a program may hand in. */

test.each([Infinity, -1, 0, Number.NaN, 6e9, 2 ** 31, 1.5, '10' as unknown as number])(
  'a call cannot take %s ms: the program hears of it at once',
  async (timeoutMs) => {
    const folder = await newFolder();
    const options = { server: 'https://lanyard.example', licenseKey, folder, timeoutMs };
    const { publicKey } = newSigner();
    expect(() => createClient({ ...options, publicKeys: [publicKey] })).toThrow(TypeError);
  },
);
