import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { credentials, enrollmentText } from '../contract/credentials.ts';
import { offline } from '../contract/offline.ts';
import { makeLicense } from '../tests/factories.ts';
import { startTestServer } from '../tests/harness.ts';
import { readBearerKey } from './bearer-keys.ts';
import { isFailure } from './failure.ts';
import { endorse } from './features/keys/replace.ts';
import { encodeJws } from './features/offline/jws.ts';
import { readRequest } from './features/offline/machine-texts.ts';
import { readSigners, signJson } from './signer.ts';

/* The vectors that clients in all languages are held to, against what the service writes and reads. */

type Key = { name: string; seed: string; publicKey: string; publicKeyPem: string; keyId: string };
type Case = { name: string; outcome: unknown };

const folder = path.join(import.meta.dirname, '../client/vectors');
const vectors = (name: string): unknown =>
  JSON.parse(readFileSync(path.join(folder, `${name}.json`), 'utf8'));
const casesOf = <C>(name: string) => (vectors(name) as { cases: (Case & C)[] }).cases;
const { keys } = vectors('keys') as { keys: Key[] };

/** A key of the vectors, as the service holds its own. */
function signerNamed(wanted: string) {
  const { seed } = keys.find(({ name }) => name === wanted)!;
  const der = Buffer.from(`302e020100300506032b657004220420${seed}`, 'hex').toString('base64');
  const [signer] = readSigners(
    `-----BEGIN PRIVATE KEY-----\n${der}\n-----END PRIVATE KEY-----`,
    'the vectors',
  );
  return signer!;
}

const server = await startTestServer();
const staff = server.api((await server.signInAs('super_admin')).byCookie);

/** The license of the vectors. */
let made: ReturnType<typeof makeLicense> | undefined;
const licenseOfVectors = () =>
  (made ??= makeLicense(staff, { maxActivations: 20 }).then(async (license) => {
    const { licenseKey } = casesOf<{ licenseKey: string }>('enrollment')[0]!;
    await server.db
      .updateTable('licenses')
      .set({ license_key: licenseKey })
      .where('license_id', '=', license.licenseId)
      .execute();
    return { ...license, licenseKey };
  }));

test('keys have the ids of the vectors', () => {
  for (const { name, keyId, publicKeyPem } of keys)
    expect(signerNamed(name)).toMatchObject({ keyId, publicKeyPem });
});

test('answers are signed as in the vectors', () => {
  const [good] = casesOf<{ answer: { signed: string } }>('answer');
  const facts = JSON.parse(good!.answer.signed) as object;
  expect(signJson(signerNamed('server 1'), facts)).toEqual(good!.answer);
});

test('keys are endorsed as in the vectors', () => {
  const chain = casesOf<{ list: { endorsement: object | null }[] }>('endorsements').find(
    ({ name }) => name === 'one key on',
  )!;
  const at = new Date('2026-11-22T12:00:00.000Z');
  const { endorsed_by, endorsement, signature } = endorse(
    signerNamed('server 1'),
    signerNamed('server 2'),
    at,
  );
  expect({ keyId: endorsed_by, signed: endorsement, signature }).toEqual(chain.list[0]!.endorsement);
});

test('license files are written as in the vectors', () => {
  const { claims, cases } = vectors('license-file') as { claims: object; cases: { file: string }[] };
  expect(encodeJws(signerNamed('server 1'), 'lanyard-license+jwt', claims)).toBe(cases[0]!.file);
});

const { publicKey } = vectors('enrollment') as { publicKey: string };
type Enrollment = { nonce: string; machineId: string; licenseKey: string; text: string };
test.each(casesOf<Enrollment & { signature: string }>('enrollment'))(
  'enrollment: $name',
  async ({ name, outcome, text, ...body }) => {
    const { nonce, machineId, licenseKey } = body;
    expect(enrollmentText({ nonce, machineId, licenseKey })).toBe(text);
    if (name === 'another license') return;
    await licenseOfVectors();
    const answer = await server.api().call(credentials.enroll, { body: { ...body, publicKey } });
    if (outcome === true) expect(answer.body.data, answer.text).toMatchObject({ valid: true });
    else expect(answer.status).toBe(422);
  },
);

test.each(casesOf<{ request: string; claims?: object }>('request'))('request: $name', (one) => {
  const read = readRequest(one.request);
  expect(isFailure(read)).toBe(one.outcome !== 'OK');
  if (isFailure(read)) return;
  const { key, ...said } = read;
  expect({ ...said, key: key.toString('base64url') }).toEqual(one.claims);
});

test('receipts: only the good one frees the seat', async () => {
  const { request } = casesOf<{ request: string }>('request')[0]!;
  const { context } = vectors('receipt') as { context: { jti: string } };
  const license = await licenseOfVectors();
  const params = { id: license.licenseId };
  const { fileId } = await staff.ok(offline.issue, { params, body: { request } });
  await server.db
    .updateTable('license_files')
    .set({ file_id: context.jti })
    .where('file_id', '=', fileId)
    .execute();
  for (const { name, receipt, outcome } of casesOf<{ receipt: string }>('receipt').toReversed()) {
    const answer = await staff.call(offline.giveBack, { params, body: { receipt } });
    expect(answer.status, `${name}: ${answer.text}`).toBe(outcome === 'OK' ? 200 : 422);
  }
});

test.each(casesOf<{ token: string }>('machine-token'))('machine token: $name', ({ token, outcome }) => {
  expect(readBearerKey('lym', token).id !== undefined).toBe(outcome);
});
