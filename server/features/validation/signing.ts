import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomUUID,
  sign,
  type KeyObject,
} from 'node:crypto';
import { link, mkdir, open, readdir, readFile, unlink } from 'node:fs/promises';
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

/**
 * Writes a new key unless there is one; undefined when there is. The file appears under its name whole or not at
 * all: another process that starts at this moment must never read half a key.
 */
async function createOnce(file: string): Promise<string | undefined> {
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const draft = `${file}.${randomUUID()}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(pem);
    await handle.sync();
    await link(draft, file);
    return pem;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  } finally {
    await handle.close();
    await unlink(draft);
  }
}

function toSigner(privateKey: KeyObject): Signer {
  const publicKeyPem = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
  return {
    keyId: createHash('sha256').update(publicKeyPem).digest('hex').slice(0, 16),
    publicKeyPem,
    sign: (text) => sign(null, Buffer.from(text, 'utf8'), privateKey).toString('base64'),
  };
}
