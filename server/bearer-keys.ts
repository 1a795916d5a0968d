import { hash, randomInt, timingSafeEqual } from 'node:crypto';

/*
 * API keys and machine tokens: prefix, id and secret, joined by underscores. The id (with the prefix) finds the row, the
 * secret authenticates. Only the SHA-256 of the secret is stored: it has too much entropy to be guessed.
 */

/** `lyd`: API keys, `lym`: machine tokens. */
type Prefix = 'lyd' | 'lym';

const forms: Record<Prefix, RegExp> = {
  lyd: /^(lyd_[a-z0-9]{12})_([A-Za-z0-9_-]{43})$/,
  lym: /^(lym_[a-z0-9]{12})_([a-z0-9]{43})$/,
};

/** Lower case only: Squirrel.Windows retries a failed request with its URL, including the key, in lower case. */
const characters = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Each character has 5.17 bits of entropy. */
const random = (count: number) =>
  Array.from({ length: count }, () => characters[randomInt(characters.length)]).join('');

const hashSecret = (secret: string) => hash('sha256', secret, 'buffer');
/** Compared for an unknown key, so that both responses take the same time. */
const decoyHash = hashSecret('no key has this secret');

/** A new key: `text` is shown once, `id` and `secretHash` are stored. */
export function newBearerKey(prefix: Prefix): { text: string; id: string; secretHash: Buffer } {
  const id = `${prefix}_${random(12)}`;
  const secret = random(43);
  return { text: `${id}_${secret}`, id, secretHash: hashSecret(secret) };
}

/** The parts of a presented key; both undefined if the text is not a key of that kind. */
export function readBearerKey(prefix: Prefix, presented: string) {
  const [, id, secret] = forms[prefix].exec(presented) ?? [];
  return { id, secret };
}

/** Whether the secret is that of the stored hash; false for an unknown key, in the same time. */
export const isSecretOf = (secretHash: Buffer | undefined, secret: string | undefined): boolean =>
  timingSafeEqual(hashSecret(secret ?? ''), secretHash ?? decoyHash) && secretHash !== undefined;
