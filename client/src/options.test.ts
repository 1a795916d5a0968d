import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { newFolder } from '../../tests/place.ts';
import { licenseKey, newSigner, requestOf, startFakeServer } from './fake-server.testing.ts';
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

test.each(['', 'a'.repeat(42), generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey])(
  'a public key that is none of Ed25519 is told at once',
  async (key) => {
    const folder = await newFolder();
    const publicKey = typeof key === 'string' ? key : key.export({ type: 'spki', format: 'pem' }).toString();
    const options = { server: 'https://lanyard.example', licenseKey, folder, publicKeys: [publicKey] };
    expect(() => createClient(options)).toThrow('not an Ed25519 public key');
  },
);

test('facts are text that the service takes: no control characters, no half of a character', async () => {
  const fake = await startFakeServer();
  const facts = {
    hostname: 'rr\u00003',
    osVersion: `${'x'.repeat(99)}😀`,
    appVersion: '4.2\ud83d.0',
    architecture: '\u0007',
  };
  const client = await fake.client({ facts });
  await client.check();
  const sent = { hostname: 'rr3', osVersion: 'x'.repeat(99), appVersion: '4.2.0' };
  expect(fake.calls[0]!.body).toMatchObject(sent);
  expect(fake.calls[0]!.body).not.toHaveProperty('architecture');
  const request = await requestOf(client);
  expect(JSON.parse(Buffer.from(request.split('.')[1]!, 'base64url').toString())).toMatchObject(sent);
});

test('a machine id with spaces around it is the one that the service knows', async () => {
  const fake = await startFakeServer();
  // the service trims what it reads
  fake.instead = (call) => {
    const { machineId = '' } = call.body;
    const trimmed = { ...call, body: { ...call.body, machineId: machineId.trim() } };
    return { status: 200, body: { data: fake.signer.answer(fake.decide(trimmed)) } };
  };
  const client = await fake.client({ machineId: ' ws-07\n' });
  expect(await client.machineId()).toBe('ws-07');
  expect(await client.check()).toMatchObject({ valid: true, source: 'online' });
});
