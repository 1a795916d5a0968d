import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { CannotStart } from '../../cannot-start.ts';
import type { Config, GivenKey } from '../../config.ts';
import { readSecrets, type Secrets } from '../../secrets.ts';
import { readSigners, type Signer } from '../../signer.ts';

/** The settings that locate the keys of this process. */
export type KeyConfig = Pick<Config, 'dataDir' | 'signingKey' | 'secretsKey'>;

/** The keys of a process, before they are checked against the database. */
export type LocalKeys = {
  signing: {
    /** The name in messages: SIGNING_KEY, or the file. */
    place: string;
    /** The candidates for signing: all keys of SIGNING_KEY, since the database decides which one signs. */
    main: Signer[];
    /** In addition, earlier and next signing keys. */
    all: Signer[];
  };
  secrets: {
    place: string;
    /** The configured key. */
    key: Secrets | undefined;
    /** In addition, the key of a rotation that stopped before it moved the file into place. */
    all: Secrets[];
  };
};

/** The files of the data directory that hold keys. */
export const keyFiles = (dataDir: string) => ({
  signing: path.join(dataDir, 'signing-key.pem'),
  next: path.join(dataDir, 'next-signing-key.pem'),
  retired: path.join(dataDir, 'retired-keys'),
  secrets: path.join(dataDir, 'secrets-key'),
  nextSecrets: path.join(dataDir, 'next-secrets-key'),
});

/** Reads the keys from the settings and the data directory. Throws CannotStart for a damaged key. */
export async function readLocalKeys({ dataDir, signingKey, secretsKey }: KeyConfig): Promise<LocalKeys> {
  const files = keyFiles(dataDir);
  const fromFile = await readSignersOf(files.signing);
  const setting = 'SIGNING_KEY';
  const fromSetting = signingKey
    ? readSigners(await textOf(setting, signingKey), 'file' in signingKey ? signingKey.file : setting)
    : [];
  const names = await readdir(files.retired).catch(() => []);
  const others = names.filter((name) => name.endsWith('.pem')).map((name) => path.join(files.retired, name));
  const rest = await Promise.all([files.next, ...others].map(readSignersOf));
  const secretsText = secretsKey ? await textOf('SECRETS_KEY', secretsKey) : await readIfThere(files.secrets);
  const secretsPlace = secretsKey ? 'SECRETS_KEY' : files.secrets;
  const key = secretsText === undefined ? undefined : readSecrets(secretsText, secretsPlace);
  const nextText = await readIfThere(files.nextSecrets);
  const next = nextText === undefined ? undefined : readSecrets(nextText, files.nextSecrets);
  return {
    signing: {
      place: signingKey ? setting : files.signing,
      main: signingKey ? fromSetting : fromFile,
      all: [...fromSetting, ...fromFile, ...rest.flat()],
    },
    secrets: {
      place: secretsPlace,
      key,
      all: [key, next].filter((one) => one !== undefined),
    },
  };
}

/**
 * Renames the key files after a rotation to match their content: `current` becomes the signing key, the previous one a
 * retired key. Runs under the lock of `readKeys`, since processes may share the directory. A read-only directory stays
 * unchanged: a start finds keys under any of these names.
 */
export async function tidyFiles({ dataDir, signingKey }: KeyConfig, current: string): Promise<void> {
  const files = keyFiles(dataDir);
  const [main] = await readSignersOf(files.signing);
  const [next] = await readSignersOf(files.next);
  if (signingKey || next?.keyId !== current) return;
  try {
    await mkdir(files.retired, { recursive: true, mode: 0o700 });
    if (main && main.keyId !== current)
      await rename(files.signing, path.join(files.retired, `${main.keyId}.pem`));
    await rename(files.next, files.signing);
  } catch (error) {
    if (!['EROFS', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

async function textOf(setting: string, key: GivenKey): Promise<string> {
  if ('text' in key) {
    // some paths are also base64 of 32 bytes
    if (path.isAbsolute(key.text) && existsSync(key.text))
      throw new CannotStart(`${setting} is the name of a file. Set it to file:${key.text}`);
    return key.text;
  }
  const text = await readIfThere(key.file, `${setting} names the file ${key.file}, which`);
  if (text === undefined) throw new CannotStart(`There is no file ${key.file}, which ${setting} names.`);
  return text;
}

async function readSignersOf(file: string): Promise<Signer[]> {
  const text = await readIfThere(file);
  return text === undefined ? [] : readSigners(text, file);
}

const readIfThere = (file: string, what = `The key in ${file}`): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new CannotStart(`${what} cannot be read: ${error.message}`);
  });
