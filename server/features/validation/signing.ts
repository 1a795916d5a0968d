import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  type KeyObject,
} from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { readOrMake } from '../../key-file.ts';

/** The key that validations are signed with. `sign` answers base64. */
export type Signer = { keyId: string; publicKeyPem: string; sign(text: string): string };

/** The public half, as `GET /api/v1/keys` answers it. */
export const publicKey = ({ keyId, publicKeyPem }: Signer) => ({
  keyId,
  algorithm: 'Ed25519' as const,
  publicKeyPem,
});

/**
 * Loads the Ed25519 key of this installation from `signing-key.pem` in the data directory, and makes it at the
 * first start. Processes that share a database must share this file: desktops trust one key.
 */
export async function loadSigner(dataDir: string): Promise<Signer> {
  const make = () =>
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return toSigner(createPrivateKey(await readOrMake(path.join(dataDir, 'signing-key.pem'), make)));
}

/**
 * Keys that signed before: every `retired-keys/*.pem` of the data directory. They sign nothing any more, but what they
 * signed in the audit log still counts.
 */
export async function loadRetiredSigners(dataDir: string): Promise<Signer[]> {
  const folder = path.join(dataDir, 'retired-keys');
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => name.endsWith('.pem')).map((name) => path.join(folder, name));
  return Promise.all(files.map(async (file) => toSigner(createPrivateKey(await readFile(file, 'utf8')))));
}

function toSigner(privateKey: KeyObject): Signer {
  const publicKeyPem = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
  return {
    keyId: createHash('sha256').update(publicKeyPem).digest('hex').slice(0, 16),
    publicKeyPem,
    sign: (text) => sign(null, Buffer.from(text, 'utf8'), privateKey).toString('base64'),
  };
}
