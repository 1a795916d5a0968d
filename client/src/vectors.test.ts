import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readAnswer, type SignedAnswer } from './answer.ts';
import { enrollmentSignature, isMachineToken } from './identity.ts';
import { evaluateKept } from './evaluate-kept.ts';
import { signJws } from './jws.ts';
import { findKey, followKeys, keysOf } from './keys.ts';
import { readLicenseFile, type Holder } from './license-file.ts';

const folder = path.join(import.meta.dirname, '../vectors');
type Expected = { licenseKey: string; machineId: string; nonce: string | null };
type Vectors<Case> = { trusted: string[]; holder: Holder; expected: Expected; cases: Case[] };
const read = (name: string): unknown => JSON.parse(readFileSync(path.join(folder, `${name}.json`), 'utf8'));
const casesOf = <Case>(name: string) => read(name) as Vectors<Case>;

const { keys } = read('keys') as { keys: { name: string; seed: string }[] };
const ring = (trusted: string[]) => ({
  find: async (keyId: string, endorsements?: unknown) => findKey(keysOf(trusted), keyId, endorsements),
});

/** The machine of the vectors. */
function machineKey() {
  const { seed } = keys.find(({ name }) => name === 'machine')!;
  const der = Buffer.from(`302e020100300506032b657004220420${seed}`, 'hex');
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { privateKey, publicKey: x! };
}

test('the vectors are what their program writes', () => {
  execFileSync(process.execPath, [path.join(folder, 'make.mjs'), '--check']);
});

type AnswerCase = { name: string; answer: SignedAnswer; expected?: Expected; outcome: string };
const answers = casesOf<AnswerCase>('answer');
test.each(answers.cases)('answer: $name', async ({ answer, expected, outcome }) => {
  const { nonce, ...rest } = expected ?? answers.expected;
  const found = await readAnswer(answer, ring(answers.trusted), { ...rest, nonce: nonce ?? undefined });
  expect(typeof found === 'string' ? found : 'OK').toBe(outcome);
});

const endorsements = casesOf<{ name: string; list: unknown; known: string[] }>('endorsements');
test.each(endorsements.cases)('endorsements: $name', ({ list, known }) => {
  expect([...followKeys(keysOf(endorsements.trusted), list).keys()].toSorted()).toEqual(known);
});

type EnrollmentCase = {
  name: string;
  nonce: string;
  machineId: string;
  licenseKey: string;
  signature: string;
  outcome: boolean;
};
test.each(casesOf<EnrollmentCase>('enrollment').cases)(
  'enrollment: $name',
  ({ signature, outcome, ...facts }) => {
    expect(enrollmentSignature(machineKey(), facts) === signature).toBe(outcome);
  },
);

const files = casesOf<{ name: string; file: string; outcome: string }>('license-file');
test.each(files.cases)('license file: $name', async ({ file, outcome }) => {
  const found = await readLicenseFile(file, ring(files.trusted), files.holder);
  expect(typeof found === 'string' ? found : 'OK').toBe(outcome);
});

type KeptCase = {
  name: string;
  answer: SignedAnswer | null;
  file: string | null;
  now: string;
  times: Record<'signed' | 'seen' | 'refused', string | null> | null;
  outcome: object;
};
const kept = casesOf<KeptCase>('kept');
test.each(kept.cases)('without the server: $name', async ({ answer, file, now, times, outcome }) => {
  const { licenseKey, machineId } = kept.holder;
  const expected = { licenseKey, machineId, nonce: undefined };
  const decision = answer ? await readAnswer(answer, ring(kept.trusted), expected) : undefined;
  const claims = file ? await readLicenseFile(file, ring(kept.trusted), kept.holder) : undefined;
  if (typeof decision === 'string' || typeof claims === 'string') throw new Error('not genuine');
  if (decision && 'problem' in decision) throw new Error(decision.problem);
  const at = (time: string | null) => (time === null ? 0 : Date.parse(time));
  const known = times && { signed: at(times.signed), seen: at(times.seen), refused: at(times.refused) };
  const verdict = evaluateKept({ now: Date.parse(now), times: known ?? undefined, decision, file: claims });
  expect(verdict).toMatchObject(outcome);
});

type SignedCase = { name: string; request?: string; receipt?: string; claims?: object; outcome: string };
test('requests and receipts are the bytes that the client signs', () => {
  const { privateKey } = machineKey();
  for (const { request, claims } of casesOf<SignedCase>('request').cases)
    if (claims) expect(signJws(privateKey, 'lanyard-request+jwt', claims)).toBe(request);
  const [good] = casesOf<SignedCase>('receipt').cases;
  const claims = JSON.parse(Buffer.from(good!.receipt!.split('.')[1]!, 'base64url').toString()) as object;
  expect(signJws(privateKey, 'lanyard-return+jwt', claims)).toBe(good!.receipt);
});

test.each(casesOf<{ name: string; token: string; outcome: boolean }>('machine-token').cases)(
  'machine token: $name',
  ({ token, outcome }) => {
    expect(isMachineToken(token)).toBe(outcome);
  },
);
