// Keys and values that all vectors share. The keys are the SHA-256 of their names: never use them.
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';

const sha256 = (text) => createHash('sha256').update(text);
export const machineHash = (machineId) => sha256(machineId).digest('hex');

/** An Ed25519 key whose 32 bytes are the SHA-256 of its name. */
function keyNamed(name) {
  const seed = sha256(`lanyard test vector: ${name}`).digest();
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey);
  const publicKeyPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  return {
    name,
    seed: seed.toString('hex'),
    publicKey: publicKey.export({ format: 'jwk' }).x,
    publicKeyPem,
    keyId: sha256(publicKeyPem).digest('hex').slice(0, 16),
    sign: (text) => sign(null, Buffer.from(text, 'utf8'), privateKey),
  };
}

const names = ['server 1', 'server 2', 'server 3', 'stranger', 'machine', 'other machine'];
export const keys = Object.fromEntries(names.map((name) => [name, keyNamed(name)]));
export const [first, second, third] = [keys['server 1'], keys['server 2'], keys['server 3']];
export const { stranger, machine } = keys;
export const otherMachine = keys['other machine'];

export const licenseKey = 'E7K2M-0QX4T-9ZB3C-5DF8G-HJ6C1';
export const otherLicenseKey = 'E1111-22222-33333-44444-55559';
export const machineId = 'radiology-ws-07';
export const otherMachineId = 'radiology-ws-08';
export const nonce = '0d6f1c1e-6d7b-4d59-9f1c-0c2f4b9a7e11';
export const jti = '7f0c8a52-3f64-4d0e-8d7b-5f0c6a1b2c3d';
export const at = Date.parse('2026-11-22T12:00:00.000Z');
export const day = 86_400_000;
export const iso = (time) => new Date(time).toISOString();
export const whole = (time) => Math.floor(time / 1000);

export const base64url = (value) => Buffer.from(value).toString('base64url');

export function jws(key, header, claims) {
  const signed = `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(claims))}`;
  return `${signed}.${key.sign(signed).toString('base64url')}`;
}

/** Changes one character in the middle of a part, so that the text stays well-formed. */
export function altered(text, part = 0) {
  const parts = text.split('.');
  const middle = Math.floor(parts[part].length / 2);
  const other = parts[part][middle] === 'A' ? 'B' : 'A';
  parts[part] = parts[part].slice(0, middle) + other + parts[part].slice(middle + 1);
  return parts.join('.');
}
