import { createPublicKey, verify } from 'node:crypto';

/** Whether the private half of this raw Ed25519 key signed the text; false for bytes that are no key. */
export function isSignedBy(publicKey: Buffer, text: string, signature: Buffer): boolean {
  try {
    const key = { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') };
    return verify(null, Buffer.from(text, 'utf8'), createPublicKey({ key, format: 'jwk' }), signature);
  } catch {
    return false;
  }
}
