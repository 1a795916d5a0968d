import { randomUUID, verify } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  checkedTime,
  createTestDatabase,
  days,
  movableClock,
  openClient,
  startTestServer,
  type TestDatabase,
} from '../../../tests/harness.ts';
import { keepRetention } from '../../jobs/audit-retention.ts';
import { entriesOf } from '../../../tests/rows.ts';
import { CannotStart } from '../../cannot-start.ts';
import { createDb, createPool, type WritableDb } from '../../db/client.ts';
import { knownMigrations, makeSchema } from '../../db/migrate.ts';
import { insertUser } from '../users/index.ts';
import { systemChange } from '../../change.ts';
import { newSecretsKey, type Secrets } from '../../secrets.ts';
import type { RouteAnswer } from '../../../contract/route.ts';
import { audit } from '../../../contract/audit.ts';
import { keys as calls } from '../../../contract/keys.ts';
import { auditKeys, entryWriter, verifyChain } from '../audit/index.ts';
import { acceptNewKeys } from './accept.ts';
import { openKeys, requireKeys } from './claim.ts';
import { followRotation } from './follow.ts';
import type { KeyConfig } from './local-keys.ts';
import { publishedKeys } from './published.ts';
import { rotateKey } from './replace.ts';
import { rotateSecrets } from './replace-secrets.ts';
import { newSigningKey, type Signer } from '../../signer.ts';
import { newFolder } from '../../../tests/place.ts';

const now = new Date('2026-11-20T09:30:00Z');
let database: TestDatabase;
let pool: ReturnType<typeof createPool>;
let db: WritableDb;
beforeEach(async () => {
  database = await createTestDatabase();
  pool = createPool(database.url);
  db = createDb(pool);
  return () => pool.end();
});

const noSettings = { signingKey: undefined, secretsKey: undefined };
/** Changes whose entries are of no interest. */
const parts = () => ({ db, writeEntry: async () => '' });
const signing = (signer: Signer) => ({ db, writeEntry: entryWriter(auditKeys(signer)) });
const open = (dataDir: string) => openKeys(db, { dataDir, ...noSettings }, now);
const idsOf = async (dataDir: string) => {
  const { signer, secrets } = await open(dataDir);
  return [signer.keyId, secrets.keyId];
};

describe('the first start on a database', () => {
  test('makes the keys, for the eyes of its account alone, and every later one finds them', async () => {
    const folder = await newFolder();
    const ids = await idsOf(folder);
    for (const name of ['signing-key.pem', 'secrets-key'])
      expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    expect(await idsOf(folder)).toEqual(ids);
    expect(await db.selectFrom('installation_keys').select(['key_id', 'state']).execute()).toEqual(
      ids.map((key_id) => ({ key_id, state: 'current' })),
    );
  });

  test('takes no name of a file for a key', async () => {
    const dataDir = await newFolder();
    // 43 characters of base64 are 32 bytes
    const file = join(dataDir, 'k'.repeat(Math.max(1, 42 - dataDir.length)));
    await writeFile(file, newSecretsKey());
    const config = { dataDir, signingKey: undefined, secretsKey: { text: file } };
    await expect(openKeys(db, config, now)).rejects.toThrow(
      `SECRETS_KEY is the name of a file. Set it to file:${file}`,
    );
  });

  test('takes the keys that lie there, and names retired ones too', async () => {
    const [before, folder] = [await newFolder(), await newFolder()];
    const [first] = await idsOf(before);
    await mkdir(join(folder, 'retired-keys'));
    await rename(join(before, 'signing-key.pem'), join(folder, 'retired-keys', 'old.pem'));
    await db.deleteFrom('installation_keys').execute();
    await open(folder);
    const retired = db.selectFrom('installation_keys').select('key_id').where('state', '=', 'retired');
    expect(await retired.execute()).toEqual([{ key_id: first }]);
    await rm(join(folder, 'retired-keys'), { recursive: true });
    await expect(open(folder)).rejects.toThrow(`${folder}/retired-keys/${first}.pem does not hold it`);
  });

  test('of several processes at once on one folder is one, and they agree', async () => {
    const folder = await newFolder();
    const all = await Promise.all([1, 2, 3, 4].map(() => idsOf(folder)));
    expect(new Set(all.map(String)).size).toBe(1);
    expect((await readdir(folder)).toSorted()).toEqual(['secrets-key', 'signing-key.pem']);
  });

  test('of several processes at once with a folder each succeeds in one, and leaves no key in the others', async () => {
    const there = await Promise.all([1, 2, 3, 4].map(newFolder));
    const outcomes = await Promise.allSettled(there.map(open));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === 'fulfilled') continue;
      expect(outcome.reason).toBeInstanceOf(CannotStart);
      expect(await readdir(there[index]!)).toEqual([]);
    }
  });
});

describe('a start is refused, and writes nothing', () => {
  test.each(['signing-key.pem', 'secrets-key'])('without %s', async (name) => {
    const folder = await newFolder();
    await open(folder);
    await rm(join(folder, name));
    await expect(open(folder)).rejects.toThrow(`${folder}/${name} does not hold it`);
    expect(await readdir(folder)).not.toContain(name);
  });

  test.each(['signing-key.pem', 'secrets-key'])('with another %s, and says which it is', async (name) => {
    const [folder, other] = [await newFolder(), await newFolder()];
    await writeFile(join(other, 'signing-key.pem'), newSigningKey());
    await writeFile(join(other, 'secrets-key'), newSecretsKey());
    await open(folder);
    await rename(join(other, name), join(folder, name));
    await expect(open(folder)).rejects.toThrow(`${folder}/${name} holds another s`);
  });

  test.each([
    ['signing-key.pem', 'half a k'],
    ['secrets-key', 'half a k'],
  ])('with a damaged %s, which stays as it is', async (name, text) => {
    const folder = await newFolder();
    await open(folder);
    await writeFile(join(folder, name), text);
    await expect(open(folder)).rejects.toThrow(new RegExp(`${name} must hold .* Restore it from a backup`));
    expect(await readFile(join(folder, name), 'utf8')).toBe(text);
  });
});

describe('before a database is migrated, a start is refused', () => {
  const required = (dataDir: string) => requireKeys(database.url, { dataDir, ...noSettings }, now);

  test('where it is empty, and the data directory belongs to another one', async () => {
    const folder = await newFolder();
    database = await createTestDatabase({ empty: true });
    await writeFile(join(folder, 'audit-head.json'), '');
    await expect(required(folder)).rejects.toThrow(
      `The database is empty, and ${folder}/audit-head.json belongs to another one`,
    );
    await rm(join(folder, 'audit-head.json'));
    await required(folder);
  });

  test.each(['0016', '0022'])('where it is of before %s, and names no keys', async (next) => {
    const folder = await newFolder();
    database = await createTestDatabase({ empty: true });
    const earlier = (await knownMigrations()).filter((name) => name < next);
    const client = await openClient(database.url);
    await makeSchema(client, earlier);
    await client.query(
      `insert into users (user_id, email, name, password_hash, created_at, updated_at)
         values (gen_random_uuid(), 'a@lanyard.test', 'A', 'x', now(), now())`,
    );
    await expect(required(folder)).rejects.toThrow(
      `This database belongs to the signing key, and ${folder}/signing-key.pem does not hold it`,
    );
    expect(await readdir(folder)).toEqual([]);
    if (next === '0016') return;
    await client.query(`insert into audit_switch (opened_by) values ('by another key')`);
    await writeFile(join(folder, 'signing-key.pem'), newSigningKey());
    await expect(required(folder)).rejects.toThrow('holds another signing key');
  });
});

describe('a database of before keys were named', () => {
  const forget = () => db.deleteFrom('installation_keys').execute();

  test('takes the key that its audit log began with, and no other', async () => {
    const folder = await newFolder();
    const server = await startTestServer({
      database,
      config: { dataDir: folder, ...noSettings, databaseUrl: database.url },
    });
    await server.createPerson('admin');
    await server.close();
    const ids = await db.selectFrom('installation_keys').select('key_id').orderBy('purpose').execute();
    await forget();
    await rename(join(folder, 'signing-key.pem'), join(folder, 'kept.pem'));
    await expect(open(folder)).rejects.toThrow('signing-key.pem does not hold it');
    await writeFile(join(folder, 'signing-key.pem'), newSigningKey());
    await expect(open(folder)).rejects.toThrow('signing-key.pem holds another signing key');
    await rename(join(folder, 'kept.pem'), join(folder, 'signing-key.pem'));
    expect((await idsOf(folder)).toSorted()).toEqual(ids.map(({ key_id }) => key_id).toSorted());
  });

  test('with encrypted second factors takes only the key that reads them', async () => {
    const folder = await newFolder();
    const { secrets } = await open(folder);
    const kept = await readFile(join(folder, 'secrets-key'), 'utf8');
    await systemChange(parts(), now, async (change) => {
      const person = { email: 'a@lanyard.test', name: 'A', passwordHash: 'x', role: 'viewer' as const };
      const { id } = await insertUser(change, person);
      await change.tx
        .updateTable('users')
        .set({ totp_secret: secrets.seal('secret', id) })
        .execute();
    });
    await forget();
    await writeFile(join(folder, 'secrets-key'), newSecretsKey());
    await expect(open(folder)).rejects.toThrow('secrets-key holds another secrets key');
    await rm(join(folder, 'secrets-key'));
    await expect(open(folder)).rejects.toThrow('secrets-key does not hold it');
    await writeFile(join(folder, 'secrets-key'), kept);
    expect((await open(folder)).secrets.keyId).toBe(secrets.keyId);
  });
});

test('a file that SIGNING_KEY names and that cannot be read is told in a sentence', async () => {
  const dataDir = await newFolder();
  const from = (file: string) => openKeys(db, { dataDir, signingKey: { file }, secretsKey: undefined }, now);
  await expect(from(join(dataDir, 'none.pem'))).rejects.toThrow(
    `There is no file ${dataDir}/none.pem, which SIGNING_KEY names.`,
  );
  const unreadable = expect.objectContaining({
    constructor: CannotStart,
    message: expect.stringMatching(
      `^SIGNING_KEY names the file ${dataDir}, which cannot be read: EISDIR`,
    ) as string,
  }) as Error;
  await expect(from(dataDir)).rejects.toEqual(unreadable);
});

test.each(['', 'n'])('a SIGNING_KEY with %j for each line break is no lost key', async (between) => {
  const text = newSigningKey().trim().replaceAll('\n', between);
  const dataDir = await newFolder();
  await expect(openKeys(db, { dataDir, signingKey: { text }, secretsKey: undefined }, now)).rejects.toThrow(
    'The key in SIGNING_KEY has lost its line breaks. Write each as \\n, in an EnvironmentFile within single quotes.',
  );
});

test('a key file without line breaks is told what to write in a file', async () => {
  const dataDir = await newFolder();
  const file = join(dataDir, 'signing-key.pem');
  await writeFile(file, newSigningKey().replaceAll('\n', ''));
  const told = (place: string) =>
    `The key in ${place} has lost its line breaks. Write its three lines one below the other.`;
  const config = { dataDir, ...noSettings };
  await expect(openKeys(db, config, now)).rejects.toThrow(told(file));
  const elsewhere = { ...config, dataDir: await newFolder(), signingKey: { file } };
  await expect(openKeys(db, elsewhere, now)).rejects.toThrow(told(file));
});

test('SIGNING_KEY may hold several keys in any order: the database says which one signs', async () => {
  const folder = await newFolder();
  const { signer } = await open(folder);
  const own = await readFile(join(folder, 'signing-key.pem'), 'utf8');
  const secretsKey = { file: join(folder, 'secrets-key') };
  const dataDir = await newFolder();
  const other = newSigningKey();
  await expect(openKeys(db, { dataDir, signingKey: { text: other }, secretsKey }, now)).rejects.toThrow(
    'SIGNING_KEY holds another signing key',
  );
  const { signer: same } = await openKeys(db, { dataDir, signingKey: { text: own }, secretsKey }, now);
  expect(same.keyId).toBe(signer.keyId);
});

describe('the signing key is replaced', () => {
  let rotations = 0;
  const rotate = async (dataDir: string, more: { prepare?: boolean; out?: string } = {}) => {
    const config = { dataDir, ...noSettings };
    const { signer } = await openKeys(db, config, now);
    const at = new Date(now.getTime() + ++rotations);
    const options = { prepare: false, out: undefined, now: at, ...more };
    return rotateKey(signing(signer), config, options);
  };
  /** What a desktop does that trusts one key: it takes those that are endorsed by one it trusts. */
  const trustedFrom = (keyId: string, keys: RouteAnswer<typeof calls.published>) => {
    const trusted = new Map(keys.filter((key) => key.keyId === keyId).map((key) => [key.keyId, key]));
    for (let grew = true; grew;) {
      grew = false;
      for (const key of keys) {
        const by = key.endorsement && trusted.get(key.endorsement.keyId);
        if (!by || trusted.has(key.keyId)) continue;
        const { signed, signature } = key.endorsement!;
        if (!verify(null, Buffer.from(signed), by.publicKeyPem, Buffer.from(signature, 'base64'))) continue;
        const said = JSON.parse(signed) as Record<string, string>;
        if (said.purpose !== 'lanyard signing key' || said.publicKeyPem !== key.publicKeyPem) continue;
        trusted.set(key.keyId, key);
        grew = true;
      }
    }
    return [...trusted.keys()];
  };

  test('by one that the old one endorses: a desktop that trusts the first trusts the third', async () => {
    const folder = await newFolder();
    const { signer: first } = await open(folder);
    const second = await rotate(folder);
    const third = await rotate(folder);
    expect(second).toMatchObject({ before: first.keyId });
    const opened = await open(folder);
    expect(opened.signer.keyId).toBe(third.keyId);
    expect(opened.retired.map(({ keyId }) => keyId).toSorted()).toEqual(
      [first.keyId, second.keyId].toSorted(),
    );
    expect((await readdir(join(folder, 'retired-keys'))).toSorted()).toEqual(
      [`${first.keyId}.pem`, `${second.keyId}.pem`].toSorted(),
    );
    const server = await startTestServer({ database, config: { dataDir: folder, ...noSettings } });
    const keys = await server.api().ok(calls.published);
    expect(keys.map(({ keyId, state }) => [keyId, state])).toEqual([
      [third.keyId, 'current'],
      [second.keyId, 'retired'],
      [first.keyId, 'retired'],
    ]);
    expect(trustedFrom(first.keyId, keys)).toEqual([first.keyId, second.keyId, third.keyId]);
    expect(trustedFrom(third.keyId, keys)).toEqual([third.keyId]);
    expect(await server.audit.verify()).toMatchObject({ whole: true });
  });

  test('in two steps, so that a desktop release can bring the next one first', async () => {
    const folder = await newFolder();
    const { signer: first } = await open(folder);
    const prepared = await rotate(folder, { prepare: true });
    expect((await open(folder)).signer.keyId).toBe(first.keyId);
    expect(await publishedKeys(db, first)).toMatchObject([
      { keyId: first.keyId, state: 'current', endorsement: null },
      { keyId: prepared.keyId, state: 'next', endorsement: { keyId: first.keyId } },
    ]);
    expect((await rotate(folder)).keyId).toBe(prepared.keyId);
    expect((await open(folder)).signer.keyId).toBe(prepared.keyId);
  });

  test('and a power cut before the files are in their places leaves a start that works', async () => {
    const folder = await newFolder();
    const { signer: first } = await open(folder);
    const { keyId } = await rotate(folder);
    const at = (name: string) => join(folder, name);
    await rename(at('signing-key.pem'), at('next-signing-key.pem'));
    expect((await open(folder)).signer.keyId).toBe(keyId);
    await rename(at(`retired-keys/${first.keyId}.pem`), at('signing-key.pem'));
    expect((await open(folder)).signer.keyId).toBe(keyId);
  });

  test('also where it comes from SIGNING_KEY, which then holds both', async () => {
    const folder = await newFolder();
    const own = newSigningKey();
    const config = { dataDir: folder, signingKey: { text: own }, secretsKey: undefined };
    const { signer } = await openKeys(db, config, now);
    const go = (out?: string) => rotateKey(signing(signer), config, { prepare: false, out, now });
    await expect(go()).rejects.toThrow('--out FILE');
    const { keyId } = await go(join(folder, 'new.pem'));
    await expect(openKeys(db, config, now)).rejects.toThrow(`${keyId}, and SIGNING_KEY does not hold it`);
    const both = { ...config, signingKey: { text: own + (await readFile(join(folder, 'new.pem'), 'utf8')) } };
    expect((await openKeys(db, both, now)).signer.keyId).toBe(keyId);
  });

  test('in a process whose first look fails while the database seems away, without a loss that makes it look again', async () => {
    const config = { dataDir: await newFolder(), ...noSettings };
    const keys = await openKeys(db, config, now);
    const { keyId } = await rotate(config.dataDir);
    await pool.query('alter table installation_keys rename to away');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const signals = { isUp: vi.fn(() => false), on: vi.fn(), label: async () => undefined };
    const log = pino({ level: 'silent' });
    followRotation({ db, signals, config, log }, keys, auditKeys(keys.signer));
    await vi.waitFor(() => expect(signals.isUp).toHaveBeenCalled(), 45_000);
    await pool.query('alter table away rename to installation_keys');
    await vi.advanceTimersByTimeAsync(5000);
    await vi.waitFor(() => expect(keys.signer.keyId).toBe(keyId), 45_000);
  });
});

describe('the secrets key is replaced', () => {
  const rotate = async (config: Parameters<typeof rotateSecrets>[1], out?: string) => {
    const { signer } = await openKeys(db, config, now);
    return rotateSecrets(signing(signer), config, { out, now });
  };
  /** A person with a second factor under the present key. */
  async function insertSealed(secrets: Secrets): Promise<string> {
    const person = {
      email: `${randomUUID()}@lanyard.test`,
      name: 'P',
      passwordHash: 'x',
      role: 'admin' as const,
    };
    const { id } = await systemChange(parts(), now, (change) => insertUser(change, person));
    const totp_secret = secrets.seal(`secret of ${id}`, id);
    await db.updateTable('users').set({ totp_secret }).where('user_id', '=', id).execute();
    return id;
  }
  const secretOf = async (id: string, secrets: Secrets) => {
    const found = db.selectFrom('users').select('totp_secret').where('user_id', '=', id);
    return secrets.open((await found.executeTakeFirstOrThrow()).totp_secret!, id);
  };

  test('and every second factor is read with the new one, also after a power cut before the file was there', async () => {
    const folder = await newFolder();
    const config = { dataDir: folder, ...noSettings };
    const { secrets: first } = await open(folder);
    const people = [await insertSealed(first), await insertSealed(first)];
    const old = await readFile(join(folder, 'secrets-key'), 'utf8');
    const rotated = await rotate(config);
    expect(rotated).toMatchObject({ before: first.keyId, factors: 2 });
    const { secrets } = await open(folder);
    expect(secrets.keyId).toBe(rotated.keyId);
    for (const id of people) expect(await secretOf(id, secrets)).toBe(`secret of ${id}`);
    for (const id of people) expect(await secretOf(id, first)).toBeUndefined();
    const [entry] = await entriesOf({ db }, 'key.secrets_rotated');
    expect(entry!.changes_summary).toContain(`Key ${rotated.keyId}: replaced the secrets key ${first.keyId}`);
    await expect(acceptNewKeys(db, config, { reason: 'none', now })).rejects.toThrow('nothing to accept');

    await rename(join(folder, 'secrets-key'), join(folder, 'next-secrets-key'));
    await writeFile(join(folder, 'secrets-key'), old);
    expect((await open(folder)).secrets.keyId).toBe(rotated.keyId);
    const again = await rotate(config);
    expect(again).toMatchObject({ before: rotated.keyId, factors: 2 });
    expect(await secretOf(people[0]!, (await open(folder)).secrets)).toBe(`secret of ${people[0]}`);
    expect((await readdir(folder)).toSorted()).toEqual(['secrets-key', 'signing-key.pem']);

    await writeFile(join(folder, 'secrets-key'), old);
    await expect(open(folder)).rejects.toThrow(`belongs to the secrets key ${again.keyId}`);
  });

  test('also where it comes from SECRETS_KEY', async () => {
    const folder = await newFolder();
    const config = { dataDir: folder, signingKey: undefined, secretsKey: { text: newSecretsKey() } };
    await openKeys(db, config, now);
    await expect(rotate(config)).rejects.toThrow('--out FILE');
    const { keyId } = await rotate(config, join(folder, 'new'));
    await expect(openKeys(db, config, now)).rejects.toThrow(`${keyId}, and SECRETS_KEY does not hold it`);
    const changed = { ...config, secretsKey: { file: join(folder, 'new') } };
    expect((await openKeys(db, changed, now)).secrets.keyId).toBe(keyId);
  });
});

describe('keys that are lost', () => {
  const accept = (dataDir: string, settings: Partial<KeyConfig> = {}) =>
    acceptNewKeys(db, { dataDir, ...noSettings, ...settings }, { reason: 'The disk burned', now });

  test('are accepted as lost by a person: new ones are made, and the audit log begins again with an entry', async () => {
    const folder = await newFolder();
    const before = await startTestServer({
      database,
      clock: movableClock('2026-06-01T09:30:00Z'),
      config: { dataDir: folder, ...noSettings },
    });
    await before.createPerson('admin');
    await before.audit.seal();
    await before.createPerson('admin');
    const lost = (await idsOf(folder)).toSorted();
    await before.close();
    for (const name of ['signing-key.pem', 'secrets-key']) await rm(join(folder, name));
    await expect(open(folder)).rejects.toThrow(CannotStart);

    const { head, ...accepted } = await accept(folder);
    expect(accepted.lost.toSorted()).toEqual(lost);
    await rm(join(folder, 'audit-head.json'));
    const opened = await open(folder);
    expect(accepted.named).toEqual([opened.signer.keyId, opened.secrets.keyId]);
    const keys = auditKeys(opened.signer);
    expect(head!.sequence).toBeGreaterThan(1);
    expect(await verifyChain(db, keys)).toMatchObject({ whole: true, checkedEntries: 1, unsealedEntries: 0 });
    const [entry] = await entriesOf({ db }, 'key.accepted_new');
    expect(entry!.changes_summary).toMatch(/The disk burned$/);

    const after = await startTestServer({ database, config: { dataDir: folder, ...noSettings } });
    await after.createPerson('admin');
    expect(await after.audit.verify()).toMatchObject({ whole: true });
    const published = await after.api().ok(calls.published);
    expect(published.map(({ state }) => state)).toEqual(['current', 'lost']);

    // those of before the loss go with the first that are old
    const staff = after.api(await after.signInAs('super_admin'));
    expect(await staff.ok(audit.cleanupImpact, { query: { days: '90' } })).toMatchObject({ entries: 0 });
    const { length } = await db.selectFrom('audit_entries').select('event_type').execute();
    after.clock.advance(days(800));
    const removed = await keepRetention(after.context, checkedTime(after), after.audit);
    await after.audit.seal();
    expect(await after.audit.verify()).toMatchObject({ whole: true, anchors: 2 });
    expect(removed).toBe(length);
    const entries = await db.selectFrom('audit_entries').select('event_type').execute();
    expect(entries).toEqual([{ event_type: 'audit.cleaned_up' }]);
  });

  test('are not while all are here', async () => {
    const folder = await newFolder();
    await open(folder);
    await expect(accept(folder)).rejects.toThrow('nothing to accept');
  });

  test('of which an earlier one lies in the place: it is to be moved away, and endorses a new one', async () => {
    const folder = await newFolder();
    const { signer: first } = await open(folder);
    const old = await readFile(join(folder, 'signing-key.pem'), 'utf8');
    const config = { dataDir: folder, ...noSettings };
    const options = { prepare: false, out: undefined, now };
    const { keyId: lost } = await rotateKey(signing(first), config, options);
    // as after the restore of an older copy of the folder
    await rm(join(folder, 'retired-keys', `${first.keyId}.pem`));
    await writeFile(join(folder, 'signing-key.pem'), old);
    await expect(open(folder)).rejects.toThrow(CannotStart);
    const place = join(folder, 'retired-keys', `${first.keyId}.pem`);
    const signingKey = { text: old };
    await expect(accept(folder, { signingKey })).rejects.toThrow('Set SIGNING_KEY to a new key');
    await expect(accept(folder)).rejects.toThrow(`Move it to ${place}: then a new key is made`);
    await rename(join(folder, 'signing-key.pem'), place);
    const accepted = await accept(folder);
    expect(accepted.lost).toEqual([lost]);
    const { signer } = await open(folder);
    expect(accepted.named).toEqual([signer.keyId]);
    const [current] = await publishedKeys(db, signer);
    expect(current).toMatchObject({ keyId: signer.keyId, endorsement: { keyId: first.keyId } });
  });

  test('of second factors alone leave the audit log as it was', async () => {
    const folder = await newFolder();
    const ids = await idsOf(folder);
    const file = join(folder, 'secrets-key');
    const text = await readFile(file, 'utf8');
    await rm(file);
    const { lost, named, head } = await accept(folder);
    expect([lost, head]).toEqual([[ids[1]], undefined]);
    expect(await idsOf(folder)).toEqual([ids[0], ...named]);
    // the lost one is found again, and put over its successor
    await writeFile(file, text);
    await expect(accept(folder)).rejects.toThrow(`${file} holds an earlier key of this database.`);
    const secretsKey = { text };
    await expect(accept(folder, { secretsKey })).rejects.toThrow('Set SECRETS_KEY to a new key');
  });

  test('of an earlier one begin the audit log again, and leave the one that signs', async () => {
    const folder = await newFolder();
    const { signer: first } = await open(folder);
    const options = { prepare: false, out: undefined, now };
    const { keyId } = await rotateKey(signing(first), { dataDir: folder, ...noSettings }, options);
    await rm(join(folder, 'retired-keys'), { recursive: true });
    const { lost, named, head } = await accept(folder);
    expect([lost, named, head !== undefined]).toEqual([[first.keyId], [], true]);
    expect((await open(folder)).signer.keyId).toBe(keyId);
  });

  test('of a replacement that was only prepared leave the one that signs, and the audit log', async () => {
    const folder = await newFolder();
    const { signer } = await open(folder);
    const options = { prepare: true, out: undefined, now };
    const { keyId } = await rotateKey(signing(signer), { dataDir: folder, ...noSettings }, options);
    await rm(join(folder, 'next-signing-key.pem'));
    expect(await accept(folder)).toEqual({ lost: [keyId], named: [], head: undefined });
    expect((await open(folder)).signer.keyId).toBe(signer.keyId);
  });
});
