import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto';
import type { Http, NoReply } from './http.ts';
import { isObject, jsonObject } from './jws.ts';
import type { Store } from './store.ts';

/** Public keys of the server, by key id. */
export type Keys = ReadonlyMap<string, KeyObject>;

/** The keys that answers and license files are verified with. */
export type KeyRing = {
  /**
   * The key with this id: one that the program ships, or one that those endorse, with the help of `endorsements` that
   * came along. Asks the server for endorsements if there is none; a problem if it gives no answer.
   */
  find(keyId: string, endorsements?: unknown): Promise<KeyObject | NoReply | undefined>;
};

const file = 'keys.json';

/** The id of a public key: 16 hexadecimal digits of the SHA-256 of its PEM. */
function keyIdOf(key: KeyObject): string {
  const pem = key.export({ type: 'spki', format: 'pem' }).toString();
  return createHash('sha256').update(pem).digest('hex').slice(0, 16);
}

/** An Ed25519 public key from PEM, or from its 32 bytes as base64url. Undefined for anything else. */
function readPublicKey(text: string): KeyObject | undefined {
  try {
    const x = text.trim();
    const key = /^[\w-]{43}$/.test(x)
      ? createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
      : createPublicKey(x);
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined;
  }
}

/** Keys by id. Throws TypeError for a text that is not an Ed25519 public key. */
export function keysOf(publicKeys: readonly string[]): Keys {
  return new Map(
    publicKeys.map((text) => {
      const key = readPublicKey(text);
      if (!key) throw new TypeError('publicKeys: not an Ed25519 public key as PEM or base64url');
      return [keyIdOf(key), key];
    }),
  );
}

/**
 * The trusted keys, and those of a list as returned by `GET /api/v1/keys` that they endorse, directly or through
 * another key. Nothing else in the list is proof.
 */
export function followKeys(trusted: Keys, list: unknown): Keys {
  const known = new Map(trusted);
  const entries = Array.isArray(list) ? list.filter(isObject) : [];
  for (let before = -1; before < known.size;) {
    before = known.size;
    for (const entry of entries) {
      const key = endorsedKey(known, entry);
      if (key) known.set(keyIdOf(key), key);
    }
  }
  return known;
}

/** The key with this id among the known ones, or endorsed by them through `endorsements` that came along. */
export function findKey(known: Keys, keyId: string, endorsements: unknown): KeyObject | undefined {
  if (!Array.isArray(endorsements) || known.has(keyId)) return known.get(keyId);
  const list = endorsements.map((endorsement: unknown) => ({ endorsement }));
  return followKeys(known, list).get(keyId);
}

/** The key of an entry, if a known key endorses it. */
function endorsedKey(known: Keys, { endorsement }: Record<string, unknown>): KeyObject | undefined {
  if (!isObject(endorsement)) return undefined;
  const { keyId, signed, signature } = endorsement;
  if (typeof keyId !== 'string' || typeof signed !== 'string' || typeof signature !== 'string')
    return undefined;
  const by = known.get(keyId);
  if (!by || !verify(null, Buffer.from(signed, 'utf8'), by, Buffer.from(signature, 'base64')))
    return undefined;
  const said = jsonObject(signed);
  if (said?.['purpose'] !== 'lanyard signing key' || typeof said['publicKeyPem'] !== 'string')
    return undefined;
  const key = readPublicKey(said['publicKeyPem']);
  return key && said['keyId'] === keyIdOf(key) && said['endorsedBy'] === keyId ? key : undefined;
}

/**
 * Keys of the program and of the server. What the server said is kept as its endorsements, and verified again at each
 * start: a key that somebody writes into the folder is worth nothing.
 */
export function openKeyRing(shipped: Keys, store: Store, http: Http): KeyRing {
  let known = shipped;
  return {
    async find(keyId, endorsements) {
      const found = findKey(known, keyId, endorsements);
      if (found) return found;
      // each time: another process may have followed a new key since, or a virus scanner have held the file
      known = followKeys(known, jsonArray(await store.read(file)));
      const kept = findKey(known, keyId, endorsements);
      if (kept) return kept;
      const reply = await http('GET', '/api/v1/keys');
      if ('problem' in reply) return reply;
      const list = jsonObject(reply.text)?.['data'];
      if (reply.status !== 200 || !Array.isArray(list))
        return { problem: `The server answered ${reply.status}, without its signing keys.` };
      const followed = followKeys(known, list);
      if (followed.size > known.size) {
        known = followed;
        await store.write(file, JSON.stringify(list));
      }
      return known.get(keyId);
    },
  };
}

function jsonArray(text: string | undefined): unknown {
  return jsonObject(`{"list":${text ?? '[]'}}`)?.['list'];
}
