import { execFileSync, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compactVerify, importSPKI, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import { keys } from '../../../contract/keys.ts';
import { makeLicense, makeMachineKey } from '../../../tests/factories.ts';
import { numbers, startTestServer } from '../../../tests/harness.ts';
import { claimsOf, issueTo, offlineMachine } from '../../../tests/offline-machine.ts';
import { newFolder } from '../../../tests/place.ts';
import { isSignedBy } from '../../machine-signature.ts';
import { decodeJws } from './jws.ts';
import { readRequest } from './machine-texts.ts';

/** Every text that differs from this one in one bit of one character. */
const flippedBits = (text: string) =>
  numbers(text.length).flatMap((i) =>
    numbers(8).map(
      (bit) => text.slice(0, i) + String.fromCharCode(text.charCodeAt(i) ^ (1 << bit)) + text.slice(i + 1),
    ),
  );

/** The Python that has jwcrypto: Debian installs it for its own. */
const python = ['/usr/bin/python3', 'python3'].find(
  (program) => spawnSync(program, ['-c', 'import jwcrypto']).status === 0,
);

const server = await startTestServer();
const folder = await newFolder();
const staff = server.api(await server.signInAs('super_admin'));
/** A license file, and the key of the service as `GET /api/v1/keys` publishes it. */
const machine = offlineMachine('ünïcode 機');
const { licenseFile: file } = await issueTo(staff, await makeLicense(staff), machine);
const { kid } = JSON.parse(Buffer.from(file.split('.')[0]!, 'base64url').toString()) as { kid: string };
const pem = (await server.api().ok(keys.published)).find(({ keyId }) => keyId === kid)!.publicKeyPem;

/** One character of the payload changed, and a signature by another key. */
const forgeries = () => {
  const [head, body, tail] = file.split('.') as [string, string, string];
  const changed = body.slice(0, -4) + (body.at(-4) === 'A' ? 'B' : 'A') + body.slice(-3);
  const by = offlineMachine('forger');
  return [`${head}.${changed}.${tail}`, by.jws('lanyard-license+jwt', claimsOf(file), { kid: 'x' })];
};

describe('the license file is verified by programs that are not ours, and altered ones are refused', () => {
  test('jose', async () => {
    const key = await importSPKI(pem, 'EdDSA');
    const { payload, protectedHeader } = await jwtVerify(file, key, {
      typ: 'lanyard-license+jwt',
      algorithms: ['EdDSA'],
      issuer: 'http://localhost:8080',
      currentDate: server.clock.now(),
      requiredClaims: ['sub', 'jti', 'iat', 'nbf', 'exp'],
    });
    expect(payload).toEqual(claimsOf(file));
    expect(Object.keys(protectedHeader)).toEqual(['alg', 'typ', 'kid']);
    const late = new Date((payload.exp! + 1) * 1000);
    await expect(jwtVerify(file, key, { currentDate: late })).rejects.toThrow(
      '"exp" claim timestamp check failed',
    );
    for (const forged of forgeries()) await expect(compactVerify(forged, key)).rejects.toThrow();
  });

  test('openssl', async () => {
    const verifies = async (text: string) => {
      const [head, body, tail] = text.split('.') as [string, string, string];
      const place = (name: string) => join(folder, name);
      await writeFile(place('key.pem'), pem);
      await writeFile(place('signed'), `${head}.${body}`);
      await writeFile(place('signature'), Buffer.from(tail, 'base64url'));
      const files = ['-inkey', place('key.pem'), '-in', place('signed'), '-sigfile', place('signature')];
      try {
        const said = execFileSync('openssl', ['pkeyutl', '-verify', '-pubin', '-rawin', ...files], {
          stdio: 'pipe',
        });
        return said.toString().includes('Signature Verified Successfully');
      } catch (error) {
        expect((error as { status: number }).status).toBe(1);
        return false;
      }
    };
    expect(await verifies(file)).toBe(true);
    for (const forged of forgeries()) expect(await verifies(forged)).toBe(false);
  });

  test.skipIf(!python)('python3-jwcrypto [needs python3-jwcrypto]', () => {
    const verify = `
import json, sys
from jwcrypto import jwk, jws
given = json.load(sys.stdin)
token = jws.JWS()
token.allowed_algs = ['EdDSA']
token.deserialize(given['text'])
token.verify(jwk.JWK.from_pem(given['pem'].encode()))
print(token.payload.decode())`;
    const verified = (text: string) =>
      execFileSync(python!, ['-c', verify], {
        input: JSON.stringify({ text, pem }),
        stdio: 'pipe',
      }).toString();
    expect(JSON.parse(verified(file))).toEqual(claimsOf(file));
    for (const forged of forgeries()) expect(() => verified(forged)).toThrow('InvalidJWSSignature');
  });
});

describe('no text with one bit changed is taken for the one that was signed', () => {
  test('a license file', () => {
    const raw = Buffer.from(pem.replaceAll(/-----.*-----|\s/g, ''), 'base64').subarray(-32);
    const holds = (text: string) => {
      const jws = decodeJws(text);
      return jws !== undefined && isSignedBy(raw, jws.signed, jws.signature);
    };
    expect(holds(file)).toBe(true);
    for (const text of flippedBits(file)) expect(holds(text), text).toBe(false);
  });

  test('a request', () => {
    const license = { licenseKey: 'ER6S9-R96P9-HG0KE-A76WR-2NZR0' };
    const request = offlineMachine('m').request(license);
    expect(readRequest(request)).toMatchObject({ machineId: 'm' });
    for (const text of flippedBits(request)) expect(readRequest(text), text).toHaveProperty('failure');
  });
});

test('a signature does not hold under another key, or what is none', () => {
  const { signed, signature } = decodeJws(file)!;
  const other = Buffer.from(makeMachineKey().publicKey, 'base64url');
  for (const key of [other, Buffer.alloc(32), Buffer.alloc(32, 255), Buffer.alloc(31), Buffer.alloc(0)])
    expect(isSignedBy(key, signed, signature)).toBe(false);
  expect(isSignedBy(other, signed, Buffer.alloc(63))).toBe(false);
});
