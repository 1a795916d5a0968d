import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { keyHash } from './license-key.ts';
import type { Store } from './store.ts';
import type { Protect } from './types.ts';

/** The key pair of the machine; `publicKey` is its 32 bytes as base64url. */
export type Identity = { privateKey: KeyObject; publicKey: string };

/** The secrets of the machine: its key pair, and the token that the server gave it. */
export type Secrets = {
  /** The machine's key pair, made if there is none. A problem if it can be neither read nor stored. */
  identity(): Promise<Identity | { problem: string }>;
  /** Removes the key pair; the next call of `identity` makes another. */
  forgetIdentity(): Promise<void>;
  /** The token for this server and license. */
  token(): Promise<string | undefined>;
  /** Whether the folder has a token of this license, even one that is damaged or of another server. */
  hasToken(): Promise<boolean>;
  /** Why the key pair or a token in the folder cannot be read now; undefined if both can, or there are none. */
  unreadable(): Promise<string | undefined>;
  /** Stores a token, or removes it. Returns the problem, if there is one; this process then still has the token. */
  setToken(token: string | undefined): Promise<string | undefined>;
};

/** What the secrets belong to. */
type Owner = {
  /** The origin of the server. */
  origin: string;
  licenseKey: string;
  /** Runs before a key pair is made; what it returns is a problem, and none is made. */
  beforeNew(): Promise<string | undefined>;
};

const mark = 'protected ';

const keyFile = 'machine-key';

/** The secrets among the files of a machine: its key pair, and a token for each license. */
export function openSecrets(store: Store, protect: Protect | undefined, owner: Owner): Secrets {
  const { origin, licenseKey } = owner;
  const of = `${origin} ${licenseKey}`;
  const tokenFile = `machine-token-${keyHash(licenseKey)}`;
  let identity: Identity | undefined;
  /** A token that could not be stored. */
  let unstored: string | undefined;

  async function seal(text: string): Promise<string> {
    return protect ? mark + Buffer.from(await protect.encrypt(text)).toString('base64') : text;
  }

  /** Throws if the keychain does not open it. */
  async function unseal(content: string): Promise<string> {
    if (!content.startsWith(mark)) return content;
    if (!protect) throw new Error('it is encrypted, and the program handed in no keychain');
    return protect.decrypt(Buffer.from(content.slice(mark.length), 'base64'));
  }

  async function readIdentity(): Promise<Identity | undefined> {
    const content = await store.read(keyFile);
    if (content === undefined) return undefined;
    const found = identityIn(await unseal(content));
    if (found && protect && !content.startsWith(mark))
      // a key that can be read counts; a keychain that refuses is asked again at the next start
      await seal(pemOf(found.privateKey)).then(
        (sealed) => store.write(keyFile, sealed),
        () => undefined,
      );
    return found;
  }

  async function makeIdentity(): Promise<string | undefined> {
    const content = await seal(pemOf(generateKeyPairSync('ed25519').privateKey));
    const notReady = await owner.beforeNew();
    if (notReady !== undefined) return notReady;
    const created = await store.create(keyFile, content);
    if (typeof created === 'object') return created.problem;
    if (created === 'created') return undefined;
    // a file that can be read and holds no key is damaged; one that cannot be read may hold the key
    const isDamaged = (await store.read(keyFile)) !== undefined && !(await readIdentity());
    return isDamaged ? store.write(keyFile, content) : undefined;
  }

  return {
    async identity() {
      if (identity) return identity;
      try {
        identity = await readIdentity();
        const problem = identity ? undefined : await makeIdentity();
        // also after making one: another process may have been faster
        identity ??= problem === undefined ? await readIdentity() : undefined;
        return identity ?? { problem: problem ?? `${keyFile} in ${store.folder} cannot be read.` };
      } catch (error) {
        return { problem: `${keyFile} in ${store.folder}: ${(error as Error).message}.` };
      }
    },
    async forgetIdentity() {
      identity = undefined;
      await store.remove(keyFile);
    },
    async token() {
      if (unstored !== undefined) return unstored;
      try {
        const [kept, ...rest] = ((await store.read(tokenFile)) ?? '').split('\n');
        const token = kept === of ? await unseal(rest.join('\n')) : '';
        return isMachineToken(token) ? token : undefined;
      } catch {
        return undefined;
      }
    },
    hasToken: () => store.has(tokenFile),
    async unreadable() {
      for (const file of [keyFile, tokenFile]) {
        if (!(await store.has(file))) continue;
        const content = await store.read(file);
        const sealed = content?.split('\n').find((line) => line.startsWith(mark));
        try {
          if (sealed !== undefined) await unseal(sealed);
        } catch (error) {
          return `${file} in ${store.folder}: ${(error as Error).message}.`;
        }
        if (content === undefined) return `${file} in ${store.folder} cannot be read.`;
      }
      return undefined;
    },
    async setToken(token) {
      unstored = undefined;
      if (token === undefined) return store.remove(tokenFile);
      const problem = await seal(token).then(
        (sealed) => store.write(tokenFile, `${of}\n${sealed}`),
        (error: unknown) => `The machine token: ${(error as Error).message}.`,
      );
      if (problem !== undefined) unstored = token;
      return problem;
    },
  };
}

/** Whether a text has the form of a machine token. */
export const isMachineToken = (text: string) => /^lym_[a-z\d]{12}_[a-z\d]{43}$/.test(text);

const pemOf = (privateKey: KeyObject) => privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

function identityIn(pem: string): Identity | undefined {
  try {
    const privateKey = createPrivateKey(pem);
    if (privateKey.asymmetricKeyType !== 'ed25519') return undefined;
    const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
    return x ? { privateKey, publicKey: x } : undefined;
  } catch {
    return undefined;
  }
}

/** Proof that an enrollment comes from the owner of the key: base64url. */
export function enrollmentSignature(
  { privateKey }: Identity,
  { nonce, machineId, licenseKey }: { nonce: string; machineId: string; licenseKey: string },
): string {
  const text = `lanyard-enroll\n${nonce}\n${machineId}\n${licenseKey}`;
  return sign(null, Buffer.from(text, 'utf8'), privateKey).toString('base64url');
}
