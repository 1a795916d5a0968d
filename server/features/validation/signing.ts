import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  type KeyObject,
} from 'node:crypto';
import { mkdir, open, readFile } from 'node:fs/promises';
import path from 'node:path';

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
  await mkdir(dataDir, { recursive: true });
  const file = path.join(dataDir, 'signing-key.pem');
  const made = await createOnce(file);
  return toSigner(createPrivateKey(made ?? (await readFile(file, 'utf8'))));
}

/** Writes a new key unless there is one; undefined when there is. */
async function createOnce(file: string): Promise<string | undefined> {
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const handle = await open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return undefined;
    throw error;
  });
  if (!handle) return undefined;
  await handle.writeFile(pem);
  await handle.sync();
  await handle.close();
  return pem;
}

function toSigner(privateKey: KeyObject): Signer {
  const publicKeyPem = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
  return {
    keyId: createHash('sha256').update(publicKeyPem).digest('hex').slice(0, 16),
    publicKeyPem,
    sign: (text) => sign(null, Buffer.from(text, 'utf8'), privateKey).toString('base64'),
  };
}
