import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { CannotStart } from './cannot-start.ts';

/** Encrypts values with a key that is not in the database, so that access to the database does not reveal them. */
export type Secrets = {
  /** The id of the key. */
  keyId: string;
  /** Encrypts a text for one owner; `open` decrypts it for that owner only. */
  seal(text: string, owner: string): string;
  /** Decrypts a text; undefined if it was encrypted with another key or for another owner, or is damaged. */
  open(sealed: string, owner: string): string | undefined;
  /** The prefix of every text encrypted with this key. */
  sealedPrefix: string;
  /** HMAC-SHA-256 of a text. */
  sign(purpose: 'account' | 'cookie' | 'credentials' | 'device' | 'request', text: string): Buffer;
};

/** The prefix of every encrypted text, with any key. */
export const sealed = 'sealed:';

/** A new key in the format of `readSecrets`. */
export const newSecretsKey = (): string => `${randomBytes(32).toString('base64')}\n`;

/** Reads a key of 32 bytes in base64. Throws CannotStart, naming `place`, if the text is not a key. */
export function readSecrets(text: string, place: string): Secrets {
  const key = Buffer.from(text, 'base64');
  // Never overwritten: it may be a damaged key.
  if (key.length !== 32)
    throw new CannotStart(`${place} must hold 32 bytes in base64. Restore it from a backup.`);
  return createSecrets(key);
}

function createSecrets(key: Buffer): Secrets {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', key, '', purpose, 32));
  const keys = {
    seal: derive('seal'),
    account: derive('account'),
    cookie: derive('cookie'),
    credentials: derive('credentials'),
    device: derive('device'),
    request: derive('request'),
  };
  const keyId = createHash('sha256').update(derive('id')).digest('hex').slice(0, 12);
  const sealedPrefix = `${sealed}${keyId}:`;
  return {
    keyId,
    sealedPrefix,
    seal(text, owner) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', keys.seal, nonce).setAAD(Buffer.from(owner));
      const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      const whole = Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
      return sealedPrefix + whole.toString('base64url');
    },
    open(text, owner) {
      if (!text.startsWith(sealedPrefix)) return undefined;
      const whole = Buffer.from(text.slice(sealedPrefix.length), 'base64url');
      try {
        const decipher = createDecipheriv('aes-256-gcm', keys.seal, whole.subarray(0, 12), {
          authTagLength: 16,
        });
        decipher.setAAD(Buffer.from(owner)).setAuthTag(whole.subarray(12, 28));
        return decipher.update(whole.subarray(28), undefined, 'utf8') + decipher.final('utf8');
      } catch {
        return undefined;
      }
    },
    sign: (purpose, text) => createHmac('sha256', keys[purpose]).update(text).digest(),
  };
}
