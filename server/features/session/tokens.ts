import { createHash, randomBytes } from 'node:crypto';

/** An opaque token of 256 random bits, and its hash to store. */
export function newToken(): { token: string; hash: Buffer } {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: hashToken(token) };
}

/** SHA-256 is enough for a random token, which cannot be guessed. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();
