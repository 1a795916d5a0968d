import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  type KeyObject,
} from 'node:crypto';
import { CannotStart } from './cannot-start.ts';
import { present } from './invariants.ts';
import { readOrMake } from './key-file.ts';

/** A signing key of the installation. `sign` returns base64. */
export type Signer = { keyId: string; publicKeyPem: string; sign(text: string): string };

export const newSigningKey = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/**
 * Parses a text with one or more PEM keys. Throws CannotStart if there is none, naming `place`: a file, or
 * `SIGNING_KEY` where the variable itself holds the text.
 */
export function readSigners(text: string, place: string): Signer[] {
  // One-line environment variables contain `\n` as an escape sequence.
  const blocks = text.replaceAll('\\n', '\n').match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g) ?? [];
  const keys = blocks.map((pem) => {
    try {
      return createPrivateKey(pem);
    } catch {
      return undefined;
    }
  });
  const usable = keys.filter((key): key is KeyObject => key?.asymmetricKeyType === 'ed25519');
  if (blocks.some((pem) => !pem.includes('\n'))) {
    const inVariable = 'Write each as \\n, in an EnvironmentFile within single quotes.';
    const inFile = 'Write its three lines one below the other.';
    throw new CannotStart(
      `The key in ${place} has lost its line breaks. ${place === 'SIGNING_KEY' ? inVariable : inFile}`,
    );
  }
  if (keys.length === 0 || usable.length < keys.length)
    throw new CannotStart(`${place} must hold a private Ed25519 key as PEM. Restore it from a backup.`);
  return usable.map(toSigner);
}

/** The first key of a file, which is created with a new key if it does not exist. */
export async function readOrMakeSigner(file: string): Promise<Signer> {
  const [signer] = readSigners(await readOrMake(file, newSigningKey), file);
  return present(signer, 'a file without a key was refused');
}

function toSigner(privateKey: KeyObject): Signer {
  const publicKeyPem = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
  return {
    keyId: createHash('sha256').update(publicKeyPem).digest('hex').slice(0, 16),
    publicKeyPem,
    sign: (text) => sign(null, Buffer.from(text, 'utf8'), privateKey).toString('base64'),
  };
}

/** Signs `facts` as JSON: `signed` is the exact text that `signature` covers. */
export function signJson(signer: Signer, facts: object) {
  const signed = JSON.stringify(facts);
  return { signed, signature: signer.sign(signed), keyId: signer.keyId };
}
