import { existsSync } from 'node:fs';
import path from 'node:path';
import { sql, type Selectable } from 'kysely';
import { CannotStart } from '../../cannot-start.ts';
import { systemChange } from '../../change.ts';
import { createDb, createPool, type Db, type Tx } from '../../db/client.ts';
import { locks, waitForLock } from '../../db/locks.ts';
import { exists } from '../../db/sql.ts';
import type { Tables } from '../../db/tables.ts';
import { readOrMake } from '../../key-file.ts';
import { newSecretsKey, readSecrets, sealed, type Secrets } from '../../secrets.ts';
import { auditKeys, beganWith } from '../audit/index.ts';
import { keyFiles, readLocalKeys, type LocalKeys, type KeyConfig } from './local-keys.ts';
import { readOrMakeSigner, type Signer } from '../../signer.ts';
import { present } from '../../invariants.ts';

/** The keys of an installation: `retired` are the other signing keys whose signatures remain valid. */
export type InstallationKeys = { signer: Signer; retired: Signer[]; secrets: Secrets };

export type RegisteredKey = Selectable<Tables['installation_keys']>;
type Purpose = RegisteredKey['purpose'];

/** One kind of key, as needed by `claim`. */
type Kind<K> = {
  purpose: Purpose;
  /** The name in messages, and the consequence of a missing key. */
  name: string;
  loss: string;
  /** The location of the current key: the setting or the file. */
  place: string;
  /** The additional location of a retired key. */
  retiredPlace: (keyId: string) => string;
  main: K[];
  all: K[];
  make: () => Promise<K>;
  /** For a database that predates named keys: whether it used no key yet, and whether it used the present one. */
  isUnused: (db: Db) => Promise<boolean>;
  fits: (db: Db) => Promise<boolean>;
};

/**
 * The keys of this process, checked against those that the database names. The first start on a database creates them,
 * or takes those of the settings, and records their names; concurrent starts agree on one. Throws CannotStart, without
 * a write, when a named key is missing or replaced by another one.
 */
export function openKeys(db: Db, config: KeyConfig, now: Date): Promise<InstallationKeys> {
  return systemChange({ db, writeEntry: refuseEntry }, now, async ({ tx }) => {
    const { local, rows } = await readKeys(tx, config);
    const signing = signingKind(config, local);
    const signer = await claim(tx, rows, signing, now);
    const secrets = await claim(tx, rows, secretsKind(config, local), now);
    return { signer, retired: othersOf(local, signer), secrets };
  });
}

/**
 * Throws CannotStart, as `openKeys` does, if the keys of this process are not those that the database names. For a
 * start before its migrations: the installation that the database belongs to may still use the previous version. Throws
 * CannotStart too if the database is empty and the data directory was in use with another one.
 */
export async function requireKeys(databaseUrl: string, config: KeyConfig, now: Date): Promise<void> {
  // looked for before the database is asked: another start with the same directory names its keys before it writes it
  const head = path.join(config.dataDir, 'audit-head.json');
  const wasInUse = existsSync(head);
  const pool = createPool(databaseUrl, 1);
  const db = createDb(pool);
  try {
    if (await namesKeys(db)) await openKeys(db, config, now);
    else if ((await hasTable(db, 'users')) && !(await isWithoutUsers(db))) await requireUnnamed(db, config);
    else if (wasInUse) throw new CannotStart(emptyDatabase(head));
  } finally {
    await pool.end();
  }
}

/** As `claim` of a database that names no keys yet, such as that of 1.0.0; it names none either. */
async function requireUnnamed(db: Db, config: KeyConfig): Promise<void> {
  // read after there were users: another process with the same directory made its keys before them
  const local = await readLocalKeys(config);
  await presentKey(db, signingKind(config, local));
  await presentKey(db, secretsKind(config, local));
}

const namesKeys = async (db: Db): Promise<boolean> =>
  (await hasTable(db, 'installation_keys')) && (await exists(db.selectFrom('installation_keys')));

async function hasTable(db: Db, name: keyof Tables): Promise<boolean> {
  const { rows } = await sql`select where to_regclass(${name}) is not null`.execute(db);
  return rows.length > 0;
}

const isWithoutUsers = async (db: Db): Promise<boolean> => !(await exists(db.selectFrom('users')));

const refuseEntry = () => Promise.reject(new Error('There is no key yet to sign an audit entry with'));

/** The keys of this process and those named in the database; locked until the transaction ends. */
export async function readKeys(
  tx: Db,
  config: KeyConfig,
): Promise<{ local: LocalKeys; rows: RegisteredKey[] }> {
  await waitForLock(tx, locks.keys);
  const rows = await tx.selectFrom('installation_keys').selectAll().orderBy('added_at').execute();
  // read under the lock: another process with the same directory may have created them
  return { local: await readLocalKeys(config), rows };
}

/** The signing key in this state, of those that the database names. */
export const signingIn = (rows: RegisteredKey[], state: RegisteredKey['state']): RegisteredKey | undefined =>
  rows.find((row) => row.purpose === 'signing' && row.state === state);

export const withId = <K extends { keyId: string }>(keys: K[], keyId: string | undefined): K | undefined =>
  keys.find((key) => key.keyId === keyId);

export const othersOf = (local: LocalKeys, signer: Signer): Signer[] =>
  local.signing.all.filter(({ keyId }) => keyId !== signer.keyId);

async function claim<K extends { keyId: string; publicKeyPem?: string }>(
  tx: Tx,
  rows: RegisteredKey[],
  kind: Kind<K>,
  now: Date,
): Promise<K> {
  const named = rows.filter(({ purpose }) => purpose === kind.purpose);
  const current = named.find(({ state }) => state === 'current');
  if (!current) return registerFirst(tx, kind, now);
  const unregistered = kind.main.find(({ keyId }) => !named.some((row) => row.key_id === keyId));
  if (unregistered) throw new CannotStart(anotherKey(kind, unregistered.keyId, current.key_id));
  const lacking = named.find(
    (row) => ['current', 'retired'].includes(row.state) && !withId(kind.all, row.key_id),
  );
  if (lacking) throw new CannotStart(missingKey(kind, lacking));
  return present(withId(kind.all, current.key_id), 'what is lacking was refused above');
}

/** Names the present key, or a new one where the database has never had one. */
async function registerFirst<K extends { keyId: string; publicKeyPem?: string }>(
  tx: Tx,
  kind: Kind<K>,
  now: Date,
): Promise<K> {
  const key = (await presentKey(tx, kind)) ?? (await kind.make());
  await registerKey(tx, { purpose: kind.purpose, key, state: 'current', now });
  for (const old of kind.all.filter(({ keyId }) => keyId !== key.keyId))
    await registerKey(tx, { purpose: kind.purpose, key: old, state: 'retired', now });
  return key;
}

/** The present key; undefined where there is none, and the database has never had one. */
async function presentKey<K extends { keyId: string }>(db: Db, kind: Kind<K>): Promise<K | undefined> {
  const existing = kind.main[0];
  if (await kind.isUnused(db)) return existing;
  if (!existing) throw new CannotStart(missingKey(kind, undefined));
  if (!(await kind.fits(db))) throw new CannotStart(anotherKey(kind, existing.keyId, undefined));
  return existing;
}

/** Records that a key belongs to the database. */
export async function registerKey(
  tx: Tx,
  what: {
    purpose: Purpose;
    key: { keyId: string; publicKeyPem?: string };
    state: RegisteredKey['state'];
    endorsed?: Pick<RegisteredKey, 'endorsed_by' | 'endorsement' | 'signature'>;
    now: Date;
  },
): Promise<void> {
  const { purpose, key, state, endorsed, now } = what;
  await tx
    .insertInto('installation_keys')
    .values({
      purpose,
      key_id: key.keyId,
      state,
      public_key: key.publicKeyPem ?? null,
      ...endorsed,
      added_at: now,
      ended_at: state === 'retired' ? now : null,
    })
    .execute();
}

/** Records that a key is not used any more. */
export const loseKey = (tx: Tx, { purpose, key_id }: Pick<RegisteredKey, 'purpose' | 'key_id'>, now: Date) =>
  tx
    .updateTable('installation_keys')
    .set({ state: 'lost', ended_at: now })
    .where('purpose', '=', purpose)
    .where('key_id', '=', key_id)
    .execute();

function signingKind(config: KeyConfig, { signing }: LocalKeys): Kind<Signer> {
  const files = keyFiles(config.dataDir);
  return {
    purpose: 'signing',
    name: 'signing key',
    loss: 'desktops would refuse every answer, and the audit log could not be verified',
    place: signing.place,
    retiredPlace: (keyId) => (config.signingKey ? 'SIGNING_KEY' : `${files.retired}/${keyId}.pem`),
    main: signing.main,
    all: signing.all,
    make: () => readOrMakeSigner(files.signing),
    isUnused: isWithoutUsers,
    fits: async (db) =>
      // an older database
      !(await hasTable(db, 'audit_switch')) ||
      beganWith(db, auditKeys(present(signing.main[0], 'it is asked of a key that there is'), signing.all)),
  };
}

function secretsKind(config: KeyConfig, { secrets }: LocalKeys): Kind<Secrets> {
  const file = keyFiles(config.dataDir).secrets;
  const isSealed = (db: Db, pattern: string) =>
    db.selectFrom('users').select('user_id').where('totp_secret', 'like', pattern).limit(1).execute();
  return {
    purpose: 'secrets',
    name: 'secrets key',
    loss: 'second factors could not be read',
    place: secrets.place,
    retiredPlace: () => secrets.place,
    main: secrets.key ? [secrets.key] : [],
    all: secrets.all,
    make: async () => readSecrets(await readOrMake(file, newSecretsKey), file),
    isUnused: async (db) => (await isSealed(db, `${sealed}%`)).length === 0,
    fits: async (db) => (await isSealed(db, `${secrets.key?.sealedPrefix}%`)).length > 0,
  };
}

const emptyDatabase = (head: string) =>
  `The database is empty, and ${head} belongs to another one: the service would answer that it knows no license, signed ` +
  `with the key of that installation. Set DATABASE_URL to its database, which ${path.dirname(head)}/locations.txt names, or to nothing if that is a folder. ` +
  `To begin with an empty database: another DATA_DIR, or remove ${head}.`;

const whatToDo = ({ place }: Kind<unknown>) =>
  `Bring the right one from a backup or from another process of this installation to ${place}. ` +
  'Only when it is lost for good: npm run keys:accept-new -- --reason "…".';

const anotherKey = (kind: Kind<unknown>, found: string, wanted: string | undefined) =>
  `${kind.place} holds another ${kind.name} (${found}) than the one that this database belongs to` +
  `${wanted ? ` (${wanted})` : ''}: with it ${kind.loss}. ${whatToDo(kind)} ` +
  `To replace the key on purpose: npm run keys:rotate. For a database of its own: another DATABASE_URL.`;

function missingKey(kind: Kind<unknown>, row: RegisteredKey | undefined): string {
  const which = row ? ` ${row.key_id}` : '';
  const place = row?.state === 'retired' ? kind.retiredPlace(row.key_id) : kind.place;
  const old = row?.state === 'retired' ? 'retired ' : '';
  return (
    `This database belongs to the ${old}${kind.name}${which}, and ${place} does not hold it. ` +
    `No other was made: ${kind.loss}. ${whatToDo({ ...kind, place })}`
  );
}
