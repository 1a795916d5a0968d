import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';

/** The public key of a machine, and the request that it signs for a license file. */
export function newMachineKey() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const key = publicKey.export({ format: 'jwk' }).x!;
  return {
    key,
    /** `machine`: its id and facts. */
    request(licenseKey: string, machine: object, at: Date): string {
      const iat = Math.floor(at.getTime() / 1000);
      const header = { alg: 'EdDSA', typ: 'lanyard-request+jwt' };
      const signed = [header, { sub: licenseKey, key, iat, jti: randomUUID(), ...machine }]
        .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
        .join('.');
      return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
    },
  };
}
