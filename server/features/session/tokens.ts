import { createHash, randomBytes } from 'node:crypto';
import type { Secrets } from '../../secrets.ts';

/** How long an access token is valid. */
export const accessTokenMs = 15 * 60_000;

/** An opaque token of 256 bits, and its hash to store. */
type Token = { token: string; hash: Buffer };

const tokenOf = (bytes: Buffer): Token => {
  const token = bytes.toString('base64url');
  return { token, hash: hashToken(token) };
};

export const newToken = (): Token => tokenOf(randomBytes(32));

/** The cookie that replaces one: the same each time, so that a request that is repeated gets it as well. */
export const nextCookie = (secrets: Secrets, cookie: string): Token =>
  tokenOf(secrets.sign('cookie', cookie));

/** SHA-256 is enough for a random token, which cannot be guessed. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();
